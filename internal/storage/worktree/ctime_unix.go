//go:build unix && !darwin && !freebsd && !netbsd

package worktree

import (
	"syscall"
	"time"
)

// ctimeOf returns the time of the last change of content or metadata.
func ctimeOf(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
