package snapshot

// Between the last check of a file and the rename that replaces it, an editor may save the file
// again. A plain rename would lose that version. On Linux the new file and the old one are
// exchanged in one step instead (RENAME_EXCHANGE); the file that comes out is compared with the
// captured version and, if it is not that one, exchanged back.

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/lockfile"
)

// displace moves the file at p to old/<n>. If it turns out to be a version other than the captured
// one, the result is a ChangedError, and the file goes back at once or, where that could replace
// another one, in GoBack.
func (m *mover) displace(i int, p string) error {
	old := m.intent.oldFile(i)
	if err := m.worktree.files.MoveOut(p, old); err != nil {
		return err
	}
	if m.kept(i, p) {
		return nil
	}
	if err := m.worktree.files.RenameNew(old, p); err != nil && !errors.Is(err, worktree.ErrNoSwap) {
		return err
	}
	return &ChangedError{p}
}

// replace puts new/<n> where the old file is. The old file is linked to old/<n> already. After
// the exchange new/<n> must be another name of the same file and is removed; if it is a newer
// version, it is exchanged back and the result is a ChangedError. Where names cannot be
// exchanged, a plain rename replaces the old file.
func (m *mover) replace(i int, p string) error {
	next, old := m.intent.newFile(i), m.intent.oldFile(i)
	switch err := m.worktree.files.Swap(next, p); {
	case errors.Is(err, worktree.ErrNoSwap):
		if err := m.worktree.files.RenameOver(next, p); err != nil {
			return err
		}
		m.noteAt(i, p)
		return nil
	case err != nil:
		return err
	}
	m.note(i)
	m.worktree.trace("swapped")
	// After a kill, everything was captured again before this call.
	if m.resumed() || lockfile.Same(next, old) && m.kept(i, p) {
		return os.Remove(next)
	}
	if err := m.worktree.files.Swap(next, p); err != nil {
		return err
	}
	return errors.Join(&ChangedError{p}, os.Remove(old))
}

// note remembers that new/<n> was renamed to its place, so that Back removes this file only and not
// one that another program wrote later. The rename changed the ctime, which the index has to know.
func (m *mover) note(i int) {
	if m.resumed() {
		return
	}
	m.placed[i] = m.staged[i]
	if info, err := m.worktree.files.Near.Lstat(m.intent.Ops[i].Path); err == nil && info != nil && worktree.SameContent(info, m.staged[i]) {
		m.placed[i] = info
	}
}

// noteAt is note for a file that may be a copy of new/<n>, made on another file system.
func (m *mover) noteAt(i int, p string) {
	if info, err := m.worktree.files.Lstat(p); err == nil && info != nil && !m.resumed() {
		m.placed[i] = info
	}
}

// giveBack moves old/<n> back to p. If another program created a file at p in the meantime, that
// file is left alone, and the result is a ChangedError. After a kill such a file is replaced: it
// was captured again before.
func (m *mover) giveBack(i int, p string) error {
	old := m.intent.oldFile(i)
	if m.resumed() {
		return m.worktree.files.RenameOver(old, p)
	}
	err := m.worktree.files.RenameNew(old, p)
	switch {
	case errors.Is(err, worktree.ErrNoSwap):
		return m.worktree.files.RenameOver(old, p)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	// The old file was linked to old/<n> but never left p.
	if lockfile.Same(old, m.worktree.files.Abs(p)) {
		return os.Remove(old)
	}
	return &ChangedError{p}
}

// swapped completes an exchange of names that a kill interrupted before new/<n> was removed. At
// that point new/<n> and old/<n> are the same old file. It reports whether that was so.
func (m *mover) swapped(i int) (bool, error) {
	if !lockfile.Same(m.intent.newFile(i), m.intent.oldFile(i)) {
		if !m.resumed() {
			return false, nil
		}
		// After a kill this may be a copy of the repository, where the two names are two files.
		if equal, err := m.copied(i); !equal || err != nil {
			return false, err
		}
	}
	return true, os.Remove(m.intent.newFile(i))
}

// copied reports whether new/<n> and old/<n> both exist, with the same content and mode.
func (m *mover) copied(i int) (bool, error) {
	stage, err := worktree.Open(m.intent.Stage, nil)
	if err != nil {
		return false, err
	}
	defer stage.Close()
	file, err := filepath.Rel(m.intent.Stage, m.intent.newFile(i))
	if err != nil {
		return false, err
	}
	next, a, err := stage.HashWhole(m.worktree.repo.Format, filepath.ToSlash(file))
	if a == nil || err != nil {
		return false, err
	}
	old, b, err := stage.HashWhole(m.worktree.repo.Format, "old/"+strconv.Itoa(i))
	return b != nil && next == old && a.Mode() == b.Mode(), err
}

// kept reports whether the file in old/<n> still is the version that was captured. The ctime is
// not compared, because the move changed it.
func (m *mover) kept(i int, p string) bool {
	if m.resumed() {
		return true
	}
	info, err := os.Lstat(m.intent.oldFile(i))
	return err == nil && m.isAsCaptured(info, p)
}

// isAsCaptured reports whether a file that was moved is the version that was captured at p.
func (m *mover) isAsCaptured(info fs.FileInfo, p string) bool {
	was := m.seen[p]
	if was == nil || info.Size() != was.Size() || info.Mode() != was.Mode() {
		return false
	}
	return info.Mode()&fs.ModeSymlink != 0 || info.ModTime().Equal(was.ModTime())
}

// lastLook detects writes to a file after it was moved aside: a program that had it open keeps
// writing to the same inode.
func (m *mover) lastLook() error {
	if m.resumed() {
		return nil // everything was captured again
	}
	for i, o := range m.intent.Ops {
		if k := o.kind(); (k == OpWrite || k == OpDelete) && m.seen[o.Path] != nil {
			if info, err := os.Lstat(m.intent.oldFile(i)); err == nil && !m.isAsCaptured(info, o.Path) {
				return &ChangedError{o.Path}
			}
		}
	}
	return nil
}
