package snapshot

// Only one process at a time may move files of a rollback. It writes a note of itself, the owner
// file. A note names a process by its number and its start time, because numbers are used again.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/lockfile"
)

// ErrBusy says that a running process is in the middle of a rollback in this worktree.
var ErrBusy = errors.New("another rollback is in progress in this worktree")

// ownerPath is the owner file: a note of the process that moves files, or did until it was
// killed.
func ownerPath(dir string) string { return filepath.Join(dir, "rollback-owner") }

// owner returns the number of the process that owns the rollback in dir. It returns 0 if there is
// none, if it is gone, or if it is this process.
func owner(dir string) int {
	data, err := os.ReadFile(ownerPath(dir))
	if err != nil {
		return 0
	}
	pid, born := readProcess(string(data))
	if pid == os.Getpid() || !alive(pid, born) {
		return 0
	}
	return pid
}

// readProcess parses a note that ProcessNote made. The number is 0 if it is not one.
func readProcess(text string) (pid int, born string) {
	fields := append(strings.Fields(text), "", "")
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0, ""
	}
	return pid, fields[1]
}

// ProcessNote returns a note of this process for ProcessRuns: its number, a space, and its start
// time.
func ProcessNote() string { return strconv.Itoa(os.Getpid()) + " " + bornAt(os.Getpid()) }

// alive reports whether the process of a note still runs. If the start time is not known on
// either side, any process of that number counts.
func alive(pid int, born string) bool {
	if pid <= 0 || !running(pid) || ended(pid) {
		return false
	}
	now := bornAt(pid)
	return born == "" || now == "" || now == born
}

// Mover returns the number of another process, which is running, that is in the middle of a
// rollback; 0 if there is none. dir is the worktree's directory of disposable files.
func Mover(dir string) int {
	if _, err := os.Lstat(intentPath(dir)); err != nil {
		return 0
	}
	return owner(dir)
}

// Moving reports whether there is a Mover.
func Moving(dir string) bool { return Mover(dir) != 0 }

// own makes this process the owner, or returns ErrBusy if another one is. Two processes that
// finish the same rollback would undo each other's steps.
func (s *restorer) own() error {
	mine, err := lockfile.Take(ownerPath(s.dir), ProcessNote()+"\n", func() bool { return owner(s.dir) == 0 })
	if err != nil {
		return fmt.Errorf("note the owner of a rollback: %w", err)
	}
	if !mine {
		return ErrBusy
	}
	return nil
}

// disown removes the owner file, unless another running process owns the rollback by now.
func (s *restorer) disown() {
	if owner(s.dir) == 0 {
		os.Remove(ownerPath(s.dir)) //nolint:errcheck // it names a process that is gone
	}
}

// ProcessRuns reports whether the process of a note runs. It is not misled by another process
// that got the same number later, where the system tells start times.
func ProcessRuns(note string) bool { return alive(readProcess(note)) }
