//go:build !unix

package command

// Yield has no priorities to lower here.
func Yield() {}
