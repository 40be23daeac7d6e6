package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lockfile"
)

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
			if id != "" {
				s.leaveID(id)
			}
			err = os.Remove(w.id)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(w.note)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read the worktree's id: %w", err)
		}
		id = fmt.Sprintf("%08x%08x%08x%08x\n", s.random(), s.random(), s.random(), s.random())
		if err := lockfile.Create(w.id, []byte(id)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("write the worktree's id: %w", err)
		} else if err == nil && s.repo.GitDir != s.repo.CommonDir {
			s.remember(id)
		}
	}
	return "", brokenFile(path, errors.New("it is not a worktree id"))
}

// linkedFile lists, in the common git directory, the ids of all linked worktrees that there ever were: git forgets a worktree
// that is removed, and the sessions of one elsewhere look the same.
const linkedFile = "checkpoint/linked-ids"

// remember adds an id and its newline to the list.
func (s *localFiles) remember(id string) {
	path := filepath.Join(s.repo.CommonDir, linkedFile)
	os.MkdirAll(filepath.Dir(path), 0o700) //nolint:errcheck,gosec // OpenFile says so
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // one that is gone is not named then
	}
	f.WriteString(id) //nolint:errcheck // as above
	f.Close()         //nolint:errcheck // as above
}

// LinkedIDs returns the ids of all linked worktrees that this repository has or had.
func (s *localFiles) LinkedIDs() []string {
	list, _ := os.ReadFile(filepath.Join(s.repo.CommonDir, linkedFile)) //nolint:errcheck // then there was none
	return strings.Fields(string(list))
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
	return l.FoldAt(id, s.former(l)...)
}

// formerFile has the ids that this worktree had before, the newest first, in lines of an id, a tip of a journal
// at the moment when the worktree got another one, and the session.
const formerFile = "worktree-former"

// leaveID notes an id that is about to be replaced, with the tips that the journals have now. All files are here,
// so the new id goes on where the old one stood; see journal.FoldAt.
func (s *localFiles) leaveID(id string) {
	const maxFormer = 1 << 16 // bounds the file of former ids, in bytes
	var note strings.Builder
	refs, _ := s.repo.Refs.List(context.Background(), name.CheckpointRoot) //nolint:errcheck // without them, the worktree stands nowhere
	for _, r := range refs {
		if session, leaf, ok := SplitRef(r.Ref); ok && leaf == leafJournal {
			fmt.Fprintf(&note, "%s %s %s\n", id, r.OID, session) //nolint:errcheck // a Builder takes everything
		}
	}
	if path, err := s.file(formerFile); err == nil {
		before, _ := os.ReadFile(path)                                                          //nolint:errcheck // then there is none
		writeFile(path, append([]byte(note.String()), before[:min(len(before), maxFormer)]...)) //nolint:errcheck // as above
	}
	if s.repo.GitDir == s.repo.CommonDir {
		os.Remove(s.clonePath()) //nolint:errcheck // a copy that keeps the number is told apart by its sessions
	}
}

// former returns the former ids of this worktree in a session.
func (s *localFiles) former(l *journal.Log) (all []journal.Former) {
	path, err := s.file(formerFile)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[2] == string(l.Session()) {
			all = append(all, journal.Former{ID: f[0], Tip: name.OID(f[1])})
		}
	}
	return all
}

// Renew gives the worktree another id if theirs, which a fetch brings, has an event with its id that mine lacks:
// a machine of the same image, or the original of a copy, made that. It reports whether it did.
func (s *Store) Renew(theirs, mine *journal.Log, session name.Session) (bool, error) {
	path, err := s.file("worktree-id")
	if err != nil {
		return false, err
	}
	if _, err := os.Lstat(path); err != nil {
		return false, nil //nolint:nilerr // it has none
	}
	id, err := s.WorktreeID()
	if err != nil || !theirs.HasOwn(id, mine) {
		return false, err
	}
	seen := s.takeCache(session)
	defer s.giveCache(seen)
	if seen.log != nil && !theirs.HasOwn(id, seen.log) {
		return false, nil // the journal here was lost, and comes back
	}
	release := lockfile.Hold(filepath.Dir(path))
	defer release()
	s.localFiles.leaveID(id)
	if err := os.Remove(path); err != nil {
		return false, fmt.Errorf("renew the worktree's id: %w", err)
	}
	s.journals.mu.Lock()
	defer s.journals.mu.Unlock()
	for _, c := range s.kept {
		c.state = nil // it was folded for the old id
	}
	seen.state = nil
	return true, nil
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
	if err != nil || len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
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
