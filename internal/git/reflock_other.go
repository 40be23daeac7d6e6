//go:build !linux

package git

import "os"

func tryFlock(*os.File) bool { return false }

// localFileSystem leaves the refs to git.
func localFileSystem(string) bool { return false }
