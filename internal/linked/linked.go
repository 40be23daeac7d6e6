// Package linked makes linked worktrees and fills them with what a checkpoint holds. While
// one is being made a note of it stands in the repository, so that one that was left half-way
// is found and named. It never touches the worktree that it is called from.
package linked

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// Place is where a worktree is to be, and what HEAD is on there.
type Place struct {
	Dir    string // absolute
	Branch string // a new one; empty: HEAD is detached
	At     name.OID
}

// Add makes a worktree without files. No hook runs: this is not a checkout of the user's.
func Add(ctx context.Context, s *checkpoint.Service, p Place) error {
	args := []string{"worktree", "add", "--no-checkout"}
	if p.Branch == "" {
		args = append(args, "--detach")
	} else {
		args = append(args, "-b", p.Branch)
	}
	_, err := s.Repo.Run(ctx, git.Cmd{Args: append(args, "--", p.Dir, string(p.At))})
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("the worktree %q cannot be made", p.Dir), Err: err}
	}
	return nil
}

// Bulk gives a worktree the files of a tree. It is git that writes them, at the speed of
// git: only those that differ from what the index says. Files that are in the way go.
func Bulk(ctx context.Context, s *checkpoint.Service, tree name.OID) error {
	_, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"read-tree", "--reset", "-u", string(tree)}, Config: []string{"submodule.recurse=false"}})
	return checkpoint.Classify(err)
}

// Fill gives a worktree what a checkpoint holds: files to the byte, permission bits, and
// what was staged.
func Fill(ctx context.Context, s *checkpoint.Service, t snapshot.Target) error {
	bulk := t.Tree
	sparse, err := s.Repo.Config.Bool("core.sparseCheckout", false) // git leaves files out then
	i := t.Index
	plain := err == nil && !sparse && i != nil && i.Tree != "" && i.Plain() && len(t.Raw) == 0
	if plain { // the index is then as it has to be: to make it anew, git reads every file that is younger than a second
		bulk, t.Index = i.Tree, nil
	}
	if err := Bulk(ctx, s, bulk); err != nil {
		return err
	}
	if err := forgetSizes(ctx, s, t); err != nil {
		return err
	}
	if err := modes(s, t); err != nil {
		return err
	}
	if plain && bulk == t.Tree {
		return nil // git has written all of it
	}
	restore, err := plan(ctx, s, t)
	if err != nil {
		return checkpoint.Classify(err)
	}
	// What is killed from here on is a rollback that was cut off, in a worktree with a note.
	err = restore.Begin([]byte("{}"))
	if err == nil {
		err = restore.Apply(ctx)
	}
	if err != nil {
		restore.Cancel()
		return checkpoint.Classify(err)
	}
	return checkpoint.Classify(restore.Finish())
}

// Move gives a worktree the files of a checkpoint, to the byte, and leaves there what neither
// this checkpoint nor the one before has: the caches of a build.
func Move(ctx context.Context, s *checkpoint.Service, t snapshot.Target) error {
	if err := Bulk(ctx, s, t.Tree); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Repo.WorkTree)
	if err != nil {
		return checkpoint.Classify(err)
	}
	defer root.Close() //nolint:errcheck // what was written in it is closed
	for p, oid := range t.Raw {
		blob, err := s.Repo.Batch().Typed(ctx, string(oid), "blob")
		if err == nil {
			err = root.WriteFile(filepath.FromSlash(p), blob.Data, 0o666)
		}
		if err != nil {
			return checkpoint.Classify(err)
		}
	}
	return modes(s, t)
}

// forgetSizes takes the stat data of files that get other bytes than git's away: git takes
// a file of another size than the index says for changed without reading it.
func forgetSizes(ctx context.Context, s *checkpoint.Service, t snapshot.Target) error {
	if len(t.Raw) == 0 {
		return nil
	}
	var in strings.Builder
	for p := range t.Raw {
		e, known, err := s.Repo.Lookup(ctx, t.Tree, p)
		if err != nil {
			return checkpoint.Classify(err)
		}
		if known {
			fmt.Fprintf(&in, "%o %s\t%s\x00", uint32(e.Mode), e.OID, p)
		}
	}
	_, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(in.String())})
	return checkpoint.Classify(err)
}

// plan finds what git's own conversions did not bring: exact bytes, and the index.
func plan(ctx context.Context, s *checkpoint.Service, t snapshot.Target) (*snapshot.Restore, error) {
	shot, err := s.Shot()
	if err != nil {
		return nil, err
	}
	// A file may be as large as it is: it comes from a checkpoint.
	cur, err := shot.Take(ctx, snapshot.Rules{MaxFileSize: 1 << 62})
	if err != nil {
		return nil, err
	}
	p, err := shot.Plan(ctx, cur, t, snapshot.Scope{})
	if err != nil {
		return nil, err
	}
	return shot.Stage(ctx, p)
}

// modes gives files and directories the permission bits that git does not keep.
func modes(s *checkpoint.Service, t snapshot.Target) error {
	root, err := os.OpenRoot(s.Repo.WorkTree)
	if err != nil {
		return checkpoint.Classify(err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	paths := make([]string, 0, len(t.Modes))
	for p := range t.Modes {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range slices.Backward(paths) { // what is in a directory comes before it
		mode := t.Modes[p]
		at, isDir := strings.CutSuffix(p, "/")
		if isDir {
			mode |= 0o300 // as a rollback does: files are still to be written there
		}
		info, err := root.Lstat(filepath.FromSlash(at))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (info.IsDir() != isDir || info.Mode()&fs.ModeSymlink != 0) {
			continue
		}
		if err == nil {
			err = root.Chmod(filepath.FromSlash(at), mode)
		}
		if err != nil {
			return checkpoint.Classify(err)
		}
	}
	return nil
}

// Remove removes a linked worktree with all that is in it. One that somebody has locked
// stays.
func Remove(ctx context.Context, s *checkpoint.Service, dir string) error {
	return remove(ctx, s, dir, "--force")
}

// Clear removes a worktree that was left half-made, and its note. Git locks one while it
// makes it, so that lock goes too.
func (n *Note) Clear(ctx context.Context, s *checkpoint.Service) error {
	admin := n.registered(s)
	_, err := os.Lstat(filepath.Join(n.Dir, ".git"))
	if err == nil || admin != "" {
		if err := remove(ctx, s, n.Dir, "--force", "--force"); err != nil {
			if admin == "" || !isBare(n.Dir) {
				return err
			}
			// Git refuses a worktree that it has not finished, and no file is in it yet.
			if err := errors.Join(os.RemoveAll(admin), os.RemoveAll(filepath.Join(n.Dir, ".git"))); err != nil {
				return checkpoint.Classify(err)
			}
		}
	}
	// What git had not come to yet: an empty directory at most.
	if err := os.Remove(n.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return checkpoint.Classify(err)
	}
	return n.End()
}

// isBare reports whether a worktree has no file but git's own.
func isBare(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != ".git" })
}

// registered is git's directory for the worktree, which may have no file yet; empty: git does not know it.
func (n *Note) registered(s *checkpoint.Service) string {
	found, _ := filepath.Glob(filepath.Join(s.Repo.CommonDir, "worktrees", "*", "gitdir")) //nolint:errcheck // the pattern is right
	for _, file := range found {
		if data, err := os.ReadFile(file); err == nil && filepath.Dir(strings.TrimSpace(string(data))) == n.Dir {
			return filepath.Dir(file)
		}
	}
	return ""
}

func remove(ctx context.Context, s *checkpoint.Service, dir string, force ...string) error {
	_, err := s.Repo.Run(ctx, git.Cmd{Args: append(append([]string{"worktree", "remove"}, force...), "--", dir)})
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("the worktree %q cannot be removed", dir), Err: err}
	}
	return nil
}
