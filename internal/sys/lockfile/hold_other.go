//go:build !unix

package lockfile

// Hold does nothing here: a directory cannot be locked.
func Hold(string) (release func()) { return func() {} }
