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

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lockfile"
)

// worktreeID matches a valid id.
var worktreeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}$`) })

// WorktreeID returns the random id of this worktree, 32 hex digits. It is made on first use;
// processes that do that at the same time all get the same id. A copy of a worktree gets its own
// id: undo goes by the rollbacks of one worktree, and the copy must not undo those of the original.
func (s *localFiles) WorktreeID() (string, error) {
	path, err := s.file("worktree-id")
	if err != nil {
		return "", err
	}
	w := worktreeFiles{repo: s.repo, id: path, note: filepath.Join(filepath.Dir(path), "worktree-place")}
	// Most commands find the id and its note as they should be. Everything else is done under a
	// lock: without it one process could return an id that another one is about to replace.
	if id, err := w.read(); err == nil && id != "" && w.noted() == w.noteOf(id) {
		return id, nil
	}
	release := lockfile.Hold(filepath.Dir(path))
	defer release()
	for range 3 {
		id, err := w.read()
		if err == nil && id != "" && w.isAtHome(id) {
			return id, nil
		}
		// The id was copied or is broken. No event refers to it from this worktree. It is removed
		// before its note, because an id without a note is accepted as it is.
		if err == nil {
			err = os.Remove(w.id)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(w.note)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read the worktree's id: %w", err)
		}
		id = fmt.Sprintf("%08x%08x%08x%08x\n", s.random(), s.random(), s.random(), s.random())
		if err := createFile(w.id, []byte(id)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("write the worktree's id: %w", err)
		}
	}
	return "", brokenFile(path, errors.New("it is not a worktree id"))
}

// fold returns the state of a journal for this worktree. One that has no id yet stands nowhere, and gets
// none by reading.
func (s *localFiles) fold(l *journal.Log) *journal.State {
	id := ""
	if path, err := s.file("worktree-id"); err == nil {
		if _, err := os.Lstat(path); err == nil {
			id, _ = s.WorktreeID() //nolint:errcheck // without it, the worktree stands nowhere
		}
	}
	return l.FoldAt(id)
}

// worktreeFiles are the paths of a worktree's id and of the note that says where it was made. The
// note has four fields: the id, the identity of its file, the identity of the worktree's top
// directory, and the path of that.
type worktreeFiles struct {
	repo     *git.Repo
	id, note string
}

// read returns the id in the file, or "" if the file contains something else.
func (w worktreeFiles) read() (string, error) {
	data, err := readSmall(w.id)
	id := strings.TrimSuffix(data, "\n")
	if err != nil || !worktreeID().MatchString(id) {
		return "", err
	}
	return id, nil
}

// noteOf returns the note of an id that was made here.
func (w worktreeFiles) noteOf(id string) string {
	top := w.repo.WorkTree
	return fmt.Sprintf("%s %s %s %s\n", id, identity(w.id), identity(top), top)
}

// noted returns the note, or "" if there is none.
func (w worktreeFiles) noted() string {
	data, _ := os.ReadFile(w.note) //nolint:errcheck // a note that cannot be read says nothing
	return string(data)
}

// isAtHome reports whether the id was made in this worktree and not copied here. The file must be
// the one in the note, and of the directory either identity or path: moving a worktree keeps the
// files, and copying makes new ones. If there is no note, or the worktree was moved, a new note is
// written.
func (w worktreeFiles) isAtHome(id string) bool {
	now, noted := w.noteOf(id), w.noted()
	if noted == now {
		return true
	}
	a, b := strings.SplitN(noted, " ", 4), strings.SplitN(now, " ", 4)
	if noted != "" && (len(a) < len(b) || a[0] != b[0] || a[1] != b[1] || a[2] != b[2] && a[3] != b[3]) {
		return false
	}
	writeFile(w.note, []byte(now)) //nolint:errcheck // the next command tries again
	return true
}
