package snapshot

// Only one process at a time may move files of a rollback. It writes a note of itself, the owner
// file. A note names a process by its number and its start time, because numbers are used again.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// readProcess parses a note that writeProcess made. The number is 0 if it is not one.
func readProcess(text string) (pid int, born string) {
	fields := append(strings.Fields(text), "", "")
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0, ""
	}
	return pid, fields[1]
}

// writeProcess returns a note of this process: its number, a space, and its start time.
func writeProcess() string {
	return strconv.Itoa(os.Getpid()) + " " + bornAt(os.Getpid())
}

// alive reports whether the process of a note still runs. If the start time is not known on
// either side, any process of that number counts.
func alive(pid int, born string) bool {
	if pid <= 0 || !running(pid) || ended(pid) {
		return false
	}
	now := bornAt(pid)
	return born == "" || now == "" || now == born
}

// Moving reports whether another process, which is running, is in the middle of a rollback. dir
// is the worktree's directory of disposable files.
func Moving(dir string) bool {
	_, err := os.Lstat(intentPath(dir))
	return err == nil && owner(dir) != 0
}

// own makes this process the owner, or returns ErrBusy if another one is. Two processes that
// finish the same rollback would undo each other's steps.
func (s *Shot) own() error {
	f, err := os.CreateTemp(s.dir, "tmp-owner-")
	if err != nil {
		return fmt.Errorf("note the owner of a rollback: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then
	_, err = fmt.Fprintln(f, writeProcess())
	if closed := f.Close(); err == nil {
		err = closed
	}
	for range 3 {
		if err != nil {
			break
		}
		if err = claim(f.Name(), ownerPath(s.dir)); !errors.Is(err, fs.ErrExist) {
			break
		}
		if owner(s.dir) != 0 {
			return ErrBusy
		}
		err = os.Remove(ownerPath(s.dir))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("note the owner of a rollback: %w", err)
	}
	return nil
}

// disown removes the owner file, unless another running process owns the rollback by now.
func (s *Shot) disown() {
	if owner(s.dir) == 0 {
		os.Remove(ownerPath(s.dir)) //nolint:errcheck // it names a process that is gone
	}
}

// claim gives the file from the additional name to. If to exists it returns fs.ErrExist and
// changes nothing. Without hard links it has to check and then rename, which is not atomic.
func claim(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(to); there == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to) // no hard links here
}

// ProcessNote returns a note of this process for ProcessRuns.
func ProcessNote() string { return writeProcess() }

// ProcessRuns reports whether the process of a note runs. It is not misled by another process
// that got the same number later, where the system tells start times.
func ProcessRuns(note string) bool { return alive(readProcess(note)) }
