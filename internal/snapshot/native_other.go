//go:build !linux

package snapshot

// newNative returns nil: on other systems git does the scan.
func newNative(*gitScanner) Scanner { return nil }
