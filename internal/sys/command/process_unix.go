//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a running command. Without a terminal it gets its own process group, so that
// everything that it has started can be ended with it. With a terminal it must stay in the
// foreground process group: a process of another group that reads from the terminal is stopped.
type process struct {
	cmd      *exec.Cmd
	terminal *os.File // nil: there is no controlling terminal
}

// newProcess prepares cmd, which is not started yet.
func newProcess(cmd *exec.Cmd) process {
	p := process{cmd: cmd}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0); err == nil {
		p.terminal = tty
		return p
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return p
}

// close closes the terminal, which was only needed for hears.
func (p process) close() {
	if p.terminal != nil {
		_ = p.terminal.Close() // it was only asked
	}
}

// hears reports whether a Ctrl-C at the terminal reaches the command without us: it does if our
// group, and so the command's, is in the foreground.
func (p process) hears() bool {
	if p.terminal == nil {
		return false
	}
	group, err := unix.IoctlGetInt(int(p.terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// signal sends a signal. An error is ignored, because the process may have ended.
func (p process) signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(p.target(), number) // it may have ended
	}
}

// target returns what to pass to kill(2): the process group of the command (negative), or the
// command alone if it shares our group.
func (p process) target() int {
	if p.terminal == nil {
		return -p.cmd.Process.Pid
	}
	return p.cmd.Process.Pid
}

func (p process) kill() { p.signal(syscall.SIGKILL) }

// sweepTime is how long the remaining processes of a command may take to end. It is short: in a
// container where no process collects zombies, they look alive for ever.
const sweepTime = time.Second

// sweep ends the processes that an interrupted command has left behind, because they would go on
// changing files. A shell starts background jobs with SIGINT ignored, so they get SIGTERM, and
// later SIGKILL.
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

// diedOf reports whether the command, which has ended, was ended by the signal s.
func (p process) diedOf(s os.Signal) bool {
	number, ok := signalOf(p.cmd.ProcessState)
	return ok && s == syscall.Signal(number)
}

// signalOf returns the number of the signal that ended a process. ok is false if none did.
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
