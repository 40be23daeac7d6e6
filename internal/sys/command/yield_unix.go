//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// Yield lowers the priority of this process and of what it starts. It does so only if this process
// leads its process group, as one started with Background does: the priority is set for the group,
// and in the foreground the group may contain other programs.
func Yield() {
	const niceness = 10 // the increment of nice(1) without a number
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, niceness) // it works as well without
	}
}
