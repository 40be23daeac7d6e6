package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// What is in use for good raises the limit, so that the collector does not run all the time;
// it goes on doing so.
func TestFollowMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	followMemory()
	for _, size := range []int64{8 << 20, 32 << 20} {
		kept := make([]byte, size)
		for deadline := time.Now().Add(10 * time.Second); debug.SetMemoryLimit(-1) < 2*size; runtime.GC() {
			if time.Now().After(deadline) {
				t.Fatalf("with %d bytes in use the limit is %d", size, debug.SetMemoryLimit(-1))
			}
			time.Sleep(time.Millisecond)
		}
		runtime.KeepAlive(kept)
	}
}
