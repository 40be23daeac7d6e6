//go:build !unix

package store

import "strings"

// identity returns the path, because there is nothing better here. A worktree that was moved counts
// as copied.
func identity(path string) string { return strings.ReplaceAll(path, " ", "_") }
