//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a command on its way. Without a terminal it gets a process group of its
// own, so that all that it started can be ended with it. At a terminal it has to stay
// in the group that the terminal talks to.
type process struct {
	cmd      *exec.Cmd
	terminal *os.File // nil: none
}

func newProcess(cmd *exec.Cmd) process {
	p := process{cmd: cmd}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0); err == nil {
		p.terminal = tty
		return p
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return p
}

func (p process) close() {
	if p.terminal != nil {
		_ = p.terminal.Close() // it was only asked
	}
}

// hears reports whether Ctrl+C at the terminal reaches the command without us.
func (p process) hears() bool {
	if p.terminal == nil {
		return false
	}
	group, err := unix.IoctlGetInt(int(p.terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func (p process) signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(p.target(), number) // it may have ended
	}
}

// target is the group of the command, or the command alone.
func (p process) target() int {
	if p.terminal == nil {
		return -p.cmd.Process.Pid
	}
	return p.cmd.Process.Pid
}

func (p process) kill() { p.signal(syscall.SIGKILL) }

// sweepTime is how long the rest of a command may take to end. It is short, because
// where nobody collects them the dead look alive.
const sweepTime = time.Second

// sweep ends what the command started and left behind when it was told to end: such a
// process would go on changing files. What runs in the background of a script does not
// hear Ctrl+C, so it is told otherwise.
func (p process) sweep() {
	if p.terminal != nil {
		return
	}
	p.signal(syscall.SIGTERM)
	for until := time.Now().Add(sweepTime); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(p.target(), 0) != nil {
			return
		}
	}
	p.kill()
}

// diedOf reports whether a signal ended the command that has ended.
func (p process) diedOf(s os.Signal) bool {
	number, ok := signalOf(p.cmd.ProcessState)
	return ok && s == syscall.Signal(number)
}

func signalOf(state *os.ProcessState) (number int, ok bool) {
	if state == nil {
		return 0, false
	}
	status, is := state.Sys().(syscall.WaitStatus)
	if !is || !status.Signaled() {
		return 0, false
	}
	return int(status.Signal()), true
}
