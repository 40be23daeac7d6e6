//go:build !linux

package snapshot

func bornAt(int) string { return "" }
