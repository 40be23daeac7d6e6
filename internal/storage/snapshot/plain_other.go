//go:build !linux

package snapshot

// This file is for other systems than Linux. There git does the scan.

import (
	"io/fs"

	"git-checkpoint/internal/git"
)

func newNative(*gitScanner) Scanner { return nil }

// fileStat returns false: which fields git fills differs between systems, so git has to write
// them.
func fileStat(fs.FileInfo) (git.FileStat, bool) { return git.FileStat{}, false }

// bornAt returns "", and ended false: start times are not looked up, and a zombie counts as running.
func bornAt(int) string { return "" }
func ended(int) bool    { return false }
