//go:build !unix

package lockfile

// hold does nothing here: a directory cannot be locked.
func hold(string) (release func()) { return func() {} }
