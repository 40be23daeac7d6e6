package snapshot

// A restore runs in these steps; a kill between any two of them can be recovered from:
//
// 1. Begin links the old index to a safe name and writes the intent file. From then on the
// worktree counts as half rolled back, until Finish or Back with Finish. 2. Apply moves deleted
// files to <stage>/old/<n>, where n is the number of the operation, and removes directories that
// are empty then. 3. It moves directories that were not there, each in one rename (whole.go). For
// every other file to write, it links the current file to <stage>/old/<n> and
// exchanges it with <stage>/new/<n> in one rename, so that the path is never missing
// (replace.go). 4. It changes modes, checks that no moved file was written to meanwhile, and
// renames the new index over the old one (putindex.go).
//
// Which files are in new/, dirs/ and old/ tells how far it came, so every step can be repeated or taken
// back by a process that has only the intent file.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/storage/worktree"
)

// Begin writes the intent, after which Apply may move files. meta is stored with it for the
// caller, who needs it to finish the restore after a kill; see Restore.Meta. Begin fails with
// ErrMoved if another rollback moved files since the capture, with ErrBusy if one is in progress, and
// with an InUseError if a program has a database open by now.
func (r *Restore) Begin(meta json.RawMessage) error {
	r.intent.Meta, r.intent.Top = meta, r.worktree.files.Top
	r.intent.OldIndex = filepath.Join(r.worktree.dir, "tmp-old-index-"+worktree.RandomHex())
	err := linkOrCopy(r.worktree.repo.IndexPath, r.intent.OldIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the index: %w", err)
	}
	r.intent.HasIndex = err == nil
	if err := r.LockDatabases(); err != nil {
		return err
	}
	if err := r.worktree.own(); err != nil {
		return err
	}
	if r.worktree.mark() != r.cur.mark {
		return ErrMoved
	}
	if err := r.save(); err != nil {
		return err
	}
	if err := r.worktree.moveOn(); err != nil {
		return errors.Join(err, os.Remove(intentPath(r.worktree.dir)))
	}
	return nil
}

// Apply moves the files and puts the index in place. Deletions come first, so that a file can be
// written where a directory was, and the other way round. If it fails, Back takes everything back.
// After a kill another process can call it again, or Back.
func (r *Restore) Apply(ctx context.Context) error {
	if err := r.move.moveFiles(ctx); err != nil {
		return err
	}
	return r.putIndex(ctx)
}

// mover moves the files of a restore, and moves them back.
type mover struct {
	worktree *checkout
	intent   *Intent
	// seen is Plan.seen. It is nil if the restore was begun by another process that was killed;
	// the caller has then captured the files again, and they are not checked one by one.
	seen   map[string]fs.FileInfo
	staged []fs.FileInfo       // lstat of new/<n> when it was written, by operation; nil after a kill
	placed map[int]fs.FileInfo // the new files that are in their places, by operation; nil after a kill
}

// resumed reports whether the restore was begun by another process, which was killed.
func (m *mover) resumed() bool { return m.seen == nil }

// moveFiles carries out the operations.
func (m *mover) moveFiles(ctx context.Context) error {
	tree := m.worktree.files
	tree.Near = tree.Hold()
	defer func() {
		tree.Near.Close()
		tree.Near = nil
	}()
	setMode := func(_ int, o Op) error { return m.setMode(o.Path, o.Perm) }
	for _, step := range []struct {
		name string
		do   func(int, Op) error
		kind OpKind
	}{
		{"aside", m.takeAside, OpDelete}, {"place", m.put, OpWrite}, {"mode", setMode, OpMode},
	} {
		for i, o := range m.intent.Ops {
			if o.kind() != step.kind && !(step.kind == OpDelete && o.goesFirst()) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if err := step.do(i, o); err != nil {
				return fmt.Errorf("%s %q: %w", step.name, o.Path, err)
			}
			m.worktree.trace(step.name)
		}
		if step.kind == OpDelete {
			m.removeEmptied()
			m.worktree.trace("emptied")
			m.putDirs()
		} else if step.kind == OpWrite {
			m.makeDirs()
		}
	}
	return m.lastLook()
}

func (s *checkout) trace(step string) {
	if s.Trace != nil {
		s.Trace(step)
	}
}

// same reports whether info is that of the file which was captured at p, or of none if there was none.
// After a kill it cannot tell and returns true: the caller has captured all files again before.
func (m *mover) same(p string, info fs.FileInfo) bool {
	was := m.seen[p]
	return m.resumed() || info == nil && was == nil || info != nil && was != nil && (worktree.Same(info, was) || sameLinked(info, was))
}

// sameLinked is the weaker form of same for a file with several hard links: moving or linking one
// of the names changes the ctime of all.
func sameLinked(info, was fs.FileInfo) bool {
	return info.Mode().IsRegular() && worktree.Links(was) > 1 && info.Mode() == was.Mode() && worktree.SameContent(info, was)
}

// takeAside moves a file that is to be deleted to old/<n>, or replaced while a database has neither.
func (m *mover) takeAside(i int, o Op) error {
	if o.kind() == OpWrite {
		if _, err := os.Lstat(m.intent.newFile(i)); errors.Is(err, fs.ErrNotExist) {
			return nil // the new one is in its place
		}
	}
	info, err := m.worktree.files.Near.Lstat(o.Path)
	if err != nil || info == nil {
		return err
	}
	// Done before the kill, and what is here now is new; or somebody has put a directory here since,
	// and not all that it holds needs to be captured.
	if m.resumed() && (m.moved(i) || info.IsDir()) {
		return nil
	}
	if !m.same(o.Path, info) {
		return &ChangedError{o.Path}
	}
	return m.displace(i, o.Path)
}

// put moves new/<n> to the path of operation i. What is there now is linked to old/<n> first, so
// that the path changes in one rename and nothing is lost.
func (m *mover) put(i int, o Op) error {
	if m.placed[i] != nil {
		return nil // with its directory
	}
	if m.resumed() { // it may be in its place since before the kill, or in the middle of an exchange
		if _, err := os.Lstat(m.intent.newFile(i)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if done, err := m.swapped(i); done || err != nil {
			return err
		}
	}
	if m.seen[o.Path] == nil {
		// Usually nothing is there and the directory exists: one rename does it. If it fails, the
		// steps below find out why.
		if m.worktree.files.RenameNew(m.intent.newFile(i), o.Path) == nil {
			m.note(i)
			return nil
		}
	}
	info, err := m.worktree.files.Near.Lstat(o.Path)
	if err != nil {
		return err
	}
	switch {
	case info == nil:
		err = m.makeParents(o.Path)
	case info.IsDir():
		err = m.removeEmpty(o.Path)
	default:
		return m.putOver(i, o.Path, info)
	}
	if err != nil {
		return err
	}
	return m.putFresh(i, o.Path)
}

// putOver replaces an existing file, of which lstat said info.
func (m *mover) putOver(i int, p string, info fs.FileInfo) error {
	if !m.moved(i) {
		if !m.same(p, info) {
			return &ChangedError{p}
		}
		// On a file system without hard links the file is moved instead, and the path is missing
		// for a moment.
		if err := m.worktree.files.LinkTo(p, m.intent.oldFile(i)); err != nil {
			if err := m.displace(i, p); err != nil {
				return err
			}
			return m.putFresh(i, p)
		}
		m.worktree.trace("linked")
	}
	return m.replace(i, p)
}

// putFresh puts a new file where there is none. It must not replace a file that another program
// created in the meantime, so it fails with a ChangedError in that case.
func (m *mover) putFresh(i int, p string) error {
	err := m.worktree.files.RenameNew(m.intent.newFile(i), p)
	switch {
	case err == nil:
		m.note(i)
	case errors.Is(err, worktree.ErrNoSwap):
		if err = m.worktree.files.RenameOver(m.intent.newFile(i), p); err == nil {
			m.noteAt(i, p)
		}
	case errors.Is(err, fs.ErrExist):
		return &ChangedError{p}
	}
	return err
}

// makeParents creates the directories above p, with the permission bits that the target had. The
// owner's write and search bits are always set, because files are to be created in them.
func (m *mover) makeParents(p string) error {
	var made []string
	for d := range worktree.ParentsOf(p) {
		info, err := m.worktree.files.Lstat(d)
		if err != nil || info != nil && !info.IsDir() {
			return errors.Join(err, &ChangedError{d})
		}
		if info != nil {
			break
		}
		made = append(made, d)
	}
	if len(made) == 0 {
		return nil
	}
	m.worktree.files.Near.Close() // it has noted that a directory is not there
	if err := m.worktree.files.Root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return err
	}
	for _, d := range made {
		if mode, ok := m.intent.NewModes[d+"/"]; ok {
			if err := m.worktree.files.Root.Chmod(d, mode|0o300); err != nil {
				return err
			}
		}
	}
	return nil
}

// setMode sets the permission bits of a file, and of nothing else that may be at p by now.
func (m *mover) setMode(p string, perm fs.FileMode) error {
	if info, err := m.worktree.files.Lstat(p); err != nil || info == nil || !info.Mode().IsRegular() {
		return errors.Join(err, &ChangedError{p})
	}
	if m.worktree.noModes {
		return nil
	}
	return m.worktree.files.Root.Chmod(p, perm)
}

// removeEmpty removes a directory that holds nothing but empty directories. If it finds a file it
// returns a ChangedError.
func (m *mover) removeEmpty(dir string) error {
	entries, err := m.worktree.files.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return &ChangedError{path.Join(dir, e.Name())}
		}
		if err := m.removeEmpty(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return m.worktree.files.Rmdir(dir)
}

// removeEmptied removes the directories that the deletions left empty, as git does, the deepest
// first. It keeps those that new files go into or that the target had, and the user's working directory.
func (m *mover) removeEmptied() {
	deepest := func(a, b string) int { return len(b) - len(a) }
	for _, d := range slices.SortedFunc(maps.Keys(m.intent.Directories), deepest) {
		if _, stood := m.intent.NewModes[d+"/"]; !stood && !m.intent.Parents[d] && !Covers(d, path.Clean(m.worktree.repo.Prefix)) {
			m.worktree.files.RemoveDir(d) //nolint:errcheck // it is not empty
		}
	}
}

// GoBack returns the worktree and the index to what they were before Begin, as far as Apply got. It
// tries everything even if something fails, returns all errors together, and can be called again
// until Finish.
func (r *Restore) GoBack() error {
	r.worktree.moveOn() //nolint:errcheck // going back is more important
	var problems []error
	note := func(p string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("bring back %q: %w", p, err))
		}
	}
	for _, d := range slices.Backward(r.intent.Dirs) {
		r.worktree.files.RemoveDir(d) //nolint:errcheck // it is not empty, or was not made
	}
	// New files are removed first, since a deleted file may have been where one of their
	// directories is now.
	for i := len(r.intent.Ops) - 1; i >= 0; i-- {
		if o := r.intent.Ops[i]; o.kind() == OpWrite {
			note(o.Path, r.move.unplace(i, o))
		}
	}
	for i, o := range r.intent.Ops {
		switch {
		case o.kind() == OpDelete || o.goesFirst():
			note(o.Path, r.move.bringBack(i, o))
		case o.kind() == OpMode:
			if perm, known := r.intent.OldModes[o.Path]; known {
				note(o.Path, r.move.setMode(o.Path, perm))
			}
		}
	}
	for d, perm := range r.intent.Directories {
		if info, err := r.worktree.files.Lstat(d); err == nil && info != nil && info.IsDir() && info.Mode().Perm() != perm {
			note(d, r.worktree.files.Root.Chmod(d, perm))
		}
	}
	note("the index", r.indexBack())
	return errors.Join(fewOf(problems)...)
}

// fewOf replaces all but the first errors of a long list by their number. They tend to have one
// cause, and there may be one for each file.
func fewOf(problems []error) []error {
	const most = 5
	if len(problems) <= most+1 {
		return problems
	}
	return append(problems[:most:most], fmt.Errorf("and %d more like these", len(problems)-most))
}

// unplace moves the new file of operation i back to new/<n> and puts the old one in its place.
// Then it removes the directories that were made for it, up to the first one that is not empty.
func (m *mover) unplace(i int, o Op) error {
	if _, err := m.swapped(i); err != nil {
		return err
	}
	if _, err := os.Lstat(m.intent.newFile(i)); errors.Is(err, fs.ErrNotExist) {
		info, err := m.worktree.files.Lstat(o.Path)
		if err != nil {
			return err
		}
		if info != nil && !info.IsDir() { // a directory is not ours, and may hold what is not captured
			if was := m.placed[i]; was != nil && (!worktree.SameContent(info, was) || info.Mode() != was.Mode()) {
				return &ChangedError{o.Path} // a program has written to the new file already
			}
			if err := m.intent.makeStaged(path.Dir(o.Path)); err != nil {
				return err
			}
			if err := m.worktree.files.MoveOut(o.Path, m.intent.newFile(i)); err != nil {
				return err
			}
		}
	}
	if o.goesFirst() {
		return nil // Back brings it back when the database is there
	}
	if err := m.bringBack(i, o); err != nil {
		return err
	}
	for d := range worktree.ParentsOf(o.Path) {
		if gone := o.Old.Mode == 0 && !m.intent.Parents[d] && m.worktree.files.RemoveDir(d) == nil; !gone {
			break // it existed before, or it is not empty
		}
	}
	return nil
}

// moved reports whether the file that was at the path of operation i is in old/<n>, moved or
// linked.
func (m *mover) moved(i int) bool {
	_, err := os.Lstat(m.intent.oldFile(i))
	return err == nil
}

// bringBack puts the file in old/<n> back to its path, if there is one.
func (m *mover) bringBack(i int, o Op) error {
	if !m.moved(i) {
		return nil
	}
	if err := m.makeParents(o.Path); err != nil {
		return err
	}
	return m.giveBack(i, o.Path)
}
