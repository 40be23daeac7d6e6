package git

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1 and returns all errors, joined. It runs as many calls at once as there
// are processors, because writing an object is mostly waiting for the file system. An error does
// not stop the other calls.
func Each(n int, do func(int) error) error {
	if n == 1 {
		return do(0) // no goroutine is needed
	}
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			errs[i] = do(i)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		group.Go(work)
	}
	work() // here, because it takes a while until another thread wakes up
	group.Wait()
	return errors.Join(errs...)
}
