package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profile samples this run until done is called; without a directory it does nothing.
func profile(dir string) (done func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	f, err := os.CreateTemp(dir, "run-*.cpu")
	if err != nil {
		return nil, fmt.Errorf("make the file of the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("start the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close() //nolint:errcheck // a profile that is cut off cannot be merged, and is told then
	}, nil
}
