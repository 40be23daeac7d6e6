//go:build !linux

package refs

import "os"

// tryFlock always fails here: no transaction is made without git.
func tryFlock(*os.File) bool { return false }

// localFileSystem is false here, so that git writes all refs.
func localFileSystem(string) bool { return false }
