//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package worktree

import "os"

// Locks says that they can be taken here.
const Locks = false

const forReading, forWriting, forNone = 0, 1, 2

// lock does nothing: here SQLite's locks keep others from reading, and a change is found by its stat data.
func lock(*os.File, int64, int64, int16) bool            { return true }
func lockedBy(*os.File, int64, int64) (pid int, is bool) { return 0, false }
