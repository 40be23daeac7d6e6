//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// detach takes a process out of the terminal's session: Ctrl+C is not meant for it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
