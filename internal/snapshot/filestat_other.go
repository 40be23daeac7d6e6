//go:build !linux

package snapshot

import (
	"io/fs"

	"git-checkpoint/internal/git"
)

// fileStat is git's to know: which fields it fills differs between systems.
func fileStat(fs.FileInfo) (git.FileStat, bool) { return git.FileStat{}, false }
