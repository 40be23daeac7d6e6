//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// niceness is that of `nice` without a number.
const niceness = 10

// Yield lets this process and what it starts stand back for others, if it leads a group
// of its own: who was started in the foreground shares one with others.
func Yield() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Setpriority(unix.PRIO_PGRP, 0, niceness) // it works as well without
	}
}
