package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/wholefile"
)

// putIndex builds the index that the target had, with stat data of the files as they are now, and
// renames it over the user's index while the lock is held. The new index is built from the
// current one: by editIndex where possible, else by git (fillIndex).
func (r *Restore) putIndex(ctx context.Context) error {
	s := r.worktree
	if r.intent.Index == nil {
		s.lock.release(r.intent)
		return nil
	}
	if err := s.lock.hold(r.intent); err != nil {
		return err
	}
	p, err := s.openIndex(ctx)
	if err != nil {
		return err
	}
	defer p.remove()
	if data, known := r.editIndex(ctx, p); known {
		err = os.WriteFile(r.intent.Lock, data, 0o666)
	} else if err = s.writer.fillIndex(ctx, p, r); err == nil {
		// The copy keeps the mtime, by which git knows which entries are too young to be trusted.
		err = copyFile(p.path, r.intent.Lock, os.O_TRUNC)
	}
	s.trace("index built")
	if err != nil {
		return fmt.Errorf("write the new index: %w", err)
	}
	if err := os.Rename(r.intent.Lock, s.repo.IndexPath); err != nil {
		return fmt.Errorf("put the index in place: %w", err)
	}
	s.lock.release(r.intent)
	s.trace("index")
	return s.writer.rewritePrunedTrees(ctx, r.intent.IndexTree)
}

// indexWriter writes the index that a restore leaves.
type indexWriter struct{ indexes }

// rewritePrunedTrees writes the trees again that the cache tree of the new index names, if a gc has
// deleted them before the index named them; a later gc would fail at a missing one. The index is
// complete without them, so an error does not fail the restore.
func (s *indexWriter) rewritePrunedTrees(ctx context.Context, tree name.OID) error {
	if err := s.repo.Maintenance.AwaitGC(ctx); err != nil {
		return err
	}
	if missing, err := s.repo.Objects.Batch().Missing(ctx, []name.OID{tree}); err != nil || !missing[tree] {
		return ctx.Err()
	}
	_, _ = s.repo.Run(ctx, git.Cmd{Args: []string{"write-tree"}, Config: s.config}) //nolint:errcheck // see above
	return ctx.Err()
}

// fillIndex changes the private index p, with git, into the one that the restore wants.
func (s *indexWriter) fillIndex(ctx context.Context, p *privateIndex, r *Restore) error {
	want := r.intent.Index
	if p.index.Count == 0 || p.index.Tree != r.intent.IndexTree || len(p.state.Unmerged)+len(p.state.IntentToAdd) > 0 {
		// read-tree refuses if the file of a skip-worktree entry is not as the entry says. And it
		// keeps the entry of a path that does not change, with its flags: an empty file that was
		// intended to be added would stay so.
		err := s.setFlag(ctx, p, "--no-skip-worktree", p.state.SkipWorktree)
		if err == nil {
			err = s.putInfo(ctx, p.path, s.removals(p.state.IntentToAdd))
		}
		if err == nil {
			_, err = s.onIndex(ctx, p.path, "", "read-tree", "--reset", string(r.intent.IndexTree))
		}
		if err != nil {
			return fmt.Errorf("restore the staged state: %w", err)
		}
	}
	if err := s.restoreFlags(ctx, p, *want); err != nil {
		return fmt.Errorf("restore the staged state: %w", err)
	}
	if _, err := s.onIndex(ctx, p.path, "", "update-index", "-q", "--unmerged", "--refresh"); err != nil && git.ExitCode(err) != 1 { // 1: some entry differs
		return fmt.Errorf("refresh the index: %w", err)
	}
	return nil
}

// restoreFlags adds conflict stages and intent-to-add entries, and sets the two flag bits.
func (s *indexWriter) restoreFlags(ctx context.Context, p *privateIndex, want IndexState) error {
	var in strings.Builder
	in.WriteString(s.removals(want.unmerged()))
	for _, u := range want.Unmerged {
		in.WriteString(git.InfoLine(u.Entry, u.Stage, u.Path))
	}
	if err := s.putInfo(ctx, p.path, in.String()); err != nil {
		return err
	}
	if len(want.IntentToAdd) > 0 {
		if err := s.intendToAdd(ctx, p, want.IntentToAdd); err != nil {
			return err
		}
	}
	// Read the index again: read-tree has removed entries and clearBits has cleared bits.
	index, err := s.repo.Checkout.ReadIndex(p.path)
	if err != nil {
		return err
	}
	p.index, p.state = index, IndexState{}
	if err := p.readState(s.files); err != nil {
		return err
	}
	there := gather.Set(p.entries, func(e git.IndexEntry) string { return e.Path })
	for _, f := range []struct {
		on, off    string
		have, want []string
	}{
		{"--assume-unchanged", "--no-assume-unchanged", p.state.AssumeUnchanged, want.AssumeUnchanged},
		{"--skip-worktree", "--no-skip-worktree", p.state.SkipWorktree, want.SkipWorktree},
	} {
		if err := s.setFlag(ctx, p, f.off, subtract(f.have, f.want)); err != nil {
			return err
		}
		on := slices.DeleteFunc(slices.Clone(f.want), func(path string) bool { return !there[path] })
		if err := s.setFlag(ctx, p, f.on, on); err != nil {
			return err
		}
	}
	return nil
}

// intendToAdd adds paths as intent-to-add. `git add -N` looks at the files, which may not exist,
// so it runs in a scratch worktree that has an empty file for each path.
func (s *indexWriter) intendToAdd(ctx context.Context, p *privateIndex, paths []string) error {
	dir, err := os.MkdirTemp(s.dir, "tmp-intent-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	scratch, err := worktree.Open(dir, nil)
	if err != nil {
		return err
	}
	defer scratch.Close()
	for _, file := range paths {
		if err := scratch.Root.MkdirAll(path.Dir(file), 0o777); err != nil {
			return err
		}
		if err := s.placeholderFile(scratch, file); err != nil {
			return err
		}
	}
	_, err = s.repo.Run(ctx, git.Cmd{
		Args:   []string{"--literal-pathspecs", "add", "--intent-to-add", "--sparse", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Stdin:  strings.NewReader(joined(paths)),
		Config: s.config, Dir: dir, Env: []string{"GIT_INDEX_FILE=" + p.path, "GIT_WORK_TREE=" + dir},
	})
	return err
}

// placeholderFile creates a file in the scratch worktree from which git takes the mode of an entry. It
// has the type and the executable bit of the real file, which is back in place by now, as far as
// git trusts these on this file system.
func (s *indexWriter) placeholderFile(scratch *worktree.Files, path string) error {
	info, err := s.files.Lstat(path)
	if err != nil {
		return err
	}
	if info != nil && info.Mode()&fs.ModeSymlink != 0 {
		if follows, err := s.core("core.symlinks", true); err == nil && follows {
			return scratch.Root.Symlink("nowhere", path)
		}
	}
	perm := fs.FileMode(0o666)
	if info != nil && info.Mode().IsRegular() && s.modeOf(info, 0) == git.ModeExec {
		perm = 0o777
	}
	return scratch.Root.WriteFile(path, nil, perm)
}

// subtract returns the strings of list that are not in taken.
func subtract(list, taken []string) []string {
	in := gather.SetOf(taken)
	return slices.DeleteFunc(slices.Clone(list), func(l string) bool { return in[l] })
}

// indexBack renames the index from before Begin into place again. If there was none, it removes
// the index that Apply made.
func (r *Restore) indexBack() error {
	if !r.intent.HasIndex {
		if r.intent.Index == nil {
			return nil
		}
		return wholefile.Remove(r.worktree.repo.IndexPath)
	}
	old, err := os.Stat(r.intent.OldIndex)
	if err != nil {
		return err
	}
	if now, err := os.Stat(r.worktree.repo.IndexPath); err == nil && os.SameFile(old, now) {
		return nil
	}
	r.replaced = true
	// Another link is renamed, because OldIndex is needed if Back is called again.
	back := r.intent.OldIndex + "-back"
	os.Remove(back) //nolint:errcheck // of a try that was killed
	if err := linkOrCopy(r.intent.OldIndex, back); err != nil {
		return err
	}
	err = os.Rename(back, r.worktree.repo.IndexPath)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	// GIT_INDEX_FILE names an index on another file system. The copy is renamed there, so that the
	// index is never missing.
	near := r.worktree.repo.IndexPath + ".tmp-" + worktree.RandomHex()
	if err = copyFile(back, near, os.O_EXCL); err == nil {
		err = os.Rename(near, r.worktree.repo.IndexPath)
	}
	if err != nil {
		os.Remove(near) //nolint:errcheck // the error says more
	}
	return errors.Join(err, os.Remove(back))
}
