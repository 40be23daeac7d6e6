//go:build !linux

package snapshot

import (
	"io/fs"

	"git-checkpoint/internal/git"
)

// fileStat returns false: which fields git fills differs between systems, so git has to write
// them.
func fileStat(fs.FileInfo) (git.FileStat, bool) { return git.FileStat{}, false }
