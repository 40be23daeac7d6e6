package git

import (
	"errors"
	"runtime"
	"sync"
)

// Each calls do for 0 to n-1 and returns all errors, joined. It runs as many calls at once as there
// are processors, because writing an object is mostly waiting for the file system. An error does
// not stop the other calls.
func Each(n int, do func(int) error) error {
	if n == 1 {
		return do(0) // no goroutine is needed
	}
	errs := make([]error, n)
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		group.Add(1)
		go func() {
			defer group.Done()
			errs[i] = do(i)
			<-slots
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}
