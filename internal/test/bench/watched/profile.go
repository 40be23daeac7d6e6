package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// rate is the number of samples per second, which is as often as kernels allow.
const rate = 1000

// profile samples this run until done is called. Without a directory it does nothing.
func profile(dir string) (done func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	f, err := os.CreateTemp(dir, "run-*.cpu")
	if err != nil {
		return nil, fmt.Errorf("make the file of the profile: %w", err)
	}
	// The usual 100 samples per second are only two in a short run. StartCPUProfile prints
	// a complaint that the rate is set already, and keeps it.
	runtime.SetCPUProfileRate(rate)
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("start the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close() //nolint:errcheck // a profile that is cut off cannot be merged, and is told then
	}, nil
}
