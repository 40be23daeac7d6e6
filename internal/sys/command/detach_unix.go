//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// detach puts a process into a session of its own, so that a Ctrl-C at the terminal does not reach
// it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
