//go:build !unix

package store

// lockDir does nothing here, where directories cannot be locked.
func lockDir(string) (unlock func()) { return func() {} }
