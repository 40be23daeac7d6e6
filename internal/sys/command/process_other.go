//go:build !unix

package command

import (
	"os"
	"os/exec"
)

// process is a running command. A Ctrl-C reaches every program in a Windows console. There are no
// other signals, so a command that has to end is killed.
type process struct{ cmd *exec.Cmd }

func newProcess(cmd *exec.Cmd) process { return process{cmd} }

func (p process) close() {}

// hears reports whether the command gets a Ctrl-C without us.
func (p process) hears() bool { return true }

func (p process) signal(os.Signal) { p.kill() }

func (p process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
}

func (p process) sweep() {}

func (p process) diedOf(os.Signal) bool { return false }

func signalOf(*os.ProcessState) (number int, ok bool) { return 0, false }
