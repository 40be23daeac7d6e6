package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrBusy says that a process that runs is in the middle of a rollback here.
var ErrBusy = errors.New("another rollback is in progress in this worktree")

// ownerPath holds the process that moves files, or did until it was killed.
func ownerPath(dir string) string { return filepath.Join(dir, "rollback-owner") }

// owner is 0 for nobody.
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

// readProcess reads a note of a process, as writeProcess makes it.
func readProcess(text string) (pid int, born string) {
	fields := append(strings.Fields(text), "", "")
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0, ""
	}
	return pid, fields[1]
}

// writeProcess notes this process: its number, and when it began.
func writeProcess() string {
	return strconv.Itoa(os.Getpid()) + " " + bornAt(os.Getpid())
}

// alive reports whether the process of a note runs, and not another by its number.
func alive(pid int, born string) bool {
	if pid <= 0 || !running(pid) || ended(pid) {
		return false
	}
	now := bornAt(pid)
	return born == "" || now == "" || now == born
}

// Moving reports whether another process that runs is in the middle of a rollback, by
// the disposable files in dir.
func Moving(dir string) bool {
	_, err := os.Lstat(intentPath(dir))
	return err == nil && owner(dir) != 0
}

// own makes this process the one that moves files. Two that finish one rollback would
// undo each other's steps.
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

// disown ends that, unless another process has taken over.
func (s *Shot) disown() {
	if owner(s.dir) == 0 {
		os.Remove(ownerPath(s.dir)) //nolint:errcheck // it names a process that is gone
	}
}

// claim gives the file from the name to as well, if that is free.
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

// ProcessNote names this process: its number, and when it began.
func ProcessNote() string { return writeProcess() }

// ProcessRuns reports whether the process of a note runs, and not another by its number.
func ProcessRuns(note string) bool { return alive(readProcess(note)) }
