//go:build unix

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// writePeak writes the peak memory of this process, and of the largest process that it
// started, in KiB. On Linux the first one comes from /proc, because getrusage also counts
// what the parent process had in memory before it started this program.
func writePeak(file string) {
	if file == "" {
		return
	}
	var own, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return
	}
	unit := int64(1)
	if runtime.GOOS == "darwin" {
		unit = 1024 // bytes there
	}
	self := int64(own.Maxrss) / unit //nolint:unconvert // of 32 bits elsewhere
	status, err := os.ReadFile("/proc/self/status")
	if _, rest, found := strings.Cut(string(status), "VmHWM:"); err == nil && found {
		fmt.Sscan(rest, &self) //nolint:errcheck // what getrusage said stays
	}
	text := fmt.Sprintf("%d %d\n", self, int64(children.Maxrss)/unit) //nolint:unconvert // see above
	os.WriteFile(file, []byte(text), 0o600)                           //nolint:errcheck // the reader misses it
}
