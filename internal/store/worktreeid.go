package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

var worktreeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}$`) })

// WorktreeID is the random id of this worktree, made on first use. Of several that
// make it at once all get the same. A copy of a worktree gets an id of its own: an undo
// brings back what was on one disk, and two would share one list.
func (s *Store) WorktreeID() (string, error) {
	path, err := s.file("worktree-id")
	if err != nil {
		return "", err
	}
	note := filepath.Join(filepath.Dir(path), "worktree-place")
	for range 3 {
		data, err := readSmall(path)
		id := strings.TrimSuffix(data, "\n")
		sound := err == nil && worktreeID().MatchString(id)
		if sound && s.isAtHome(note, path, id) {
			return id, nil
		}
		if sound { // before the id, which is taken as it is where there is no note
			err = os.Remove(note)
		}
		if err == nil { // copied or broken: nothing can refer to what it holds
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read the worktree's id: %w", err)
		}
		id = fmt.Sprintf("%08x%08x%08x%08x\n", s.Random(), s.Random(), s.Random(), s.Random())
		if err := createFile(path, []byte(id)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("write the worktree's id: %w", err)
		}
	}
	return "", &FileError{Path: path, Err: errors.New("it is no worktree id, whatever is written to it")}
}

// isAtHome reports whether an id was made where it is: its file is the same, and the top
// of the worktree is the same directory or has the same path. A move keeps the directories, a copy
// makes new ones. What was not noted yet is noted.
func (s *Store) isAtHome(note, file, id string) bool {
	now := fmt.Sprintf("%s %s %s %s\n", id, identity(file), identity(s.Repo.WorkTree), s.Repo.WorkTree)
	data, err := os.ReadFile(note)
	noted := string(data)
	if noted == now {
		return true
	}
	a, b := strings.SplitN(noted, " ", 4), strings.SplitN(now, " ", 4)
	if err == nil && (len(a) < len(b) || a[0] != b[0] || a[1] != b[1] || a[2] != b[2] && a[3] != b[3]) {
		return false
	}
	writeFile(note, []byte(now)) //nolint:errcheck // the next command tries again
	return true
}
