//go:build !unix

package command

import (
	"os"
	"os/exec"
)

// process is a command on its way. Ctrl+C reaches every program of a console; other
// signals do not exist here, so what has to end is ended at once.
type process struct{ cmd *exec.Cmd }

func newProcess(cmd *exec.Cmd) process { return process{cmd} }

func (p process) close() {}

func (p process) hears() bool { return true }

func (p process) signal(os.Signal) { p.kill() }

func (p process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
}

func (p process) sweep() {}

func (p process) diedOf(os.Signal) bool { return false }

func signalOf(*os.ProcessState) (number int, ok bool) { return 0, false }
