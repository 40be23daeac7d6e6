package git

import (
	"errors"
	"runtime"
	"sync"
)

// Each calls do for 0 to n-1, some at once where there are processors for it: most
// of the time of writing an object is spent waiting for the file system.
func Each(n int, do func(int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		if n == 1 {
			return do(i)
		}
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
