//go:build !unix

package command

// Yield does nothing here.
func Yield() {}
