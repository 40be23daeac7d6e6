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

// worktreeID matches a valid id.
var worktreeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}$`) })

// WorktreeID returns the random id of this worktree, 32 hex digits. It is made on first use;
// processes that do that at the same time all get the same id. A copy of a worktree gets its own
// id: undo goes by the rollbacks of one worktree, and the copy must not undo those of the original.
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
		// The note goes first, so that the new id of another process is never compared with the old
		// note. An id without a note is accepted as it is.
		if sound {
			err = os.Remove(note)
		}
		// The id was copied or is broken. No event refers to it from this worktree.
		if err == nil {
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

// isAtHome reports whether the id was made in this worktree and not copied here. The note has four
// fields: the id, the identity of its file, the identity of the worktree's top directory, and the
// path of that. The file must be the same, and of the directory either identity or path: moving a
// worktree keeps the files, and copying makes new ones. If there is no note, or the worktree was
// moved, a new note is written.
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
