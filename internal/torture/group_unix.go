//go:build unix

package torture

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command start in a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the whole process group, so that git processes of the program die with
// it.
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } //nolint:errcheck // it may have ended
