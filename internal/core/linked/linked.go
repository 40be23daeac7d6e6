// Package linked makes linked worktrees (git worktree) and fills them with the files of a
// checkpoint. Forks and bisects work in such worktrees. It never touches the worktree from
// which it is called.
//
// Begin writes a Note before a worktree is made, and Note.End removes it when everything is
// in place. If the process is killed in between, the note stays, and Left finds it. Add
// makes the worktree, Fill writes a checkpoint into a new one, and Move changes one from
// checkpoint to checkpoint.
package linked

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Place says where to make a worktree and what HEAD is there.
type Place struct {
	Dir string // absolute
	// A new branch; empty: HEAD is detached.
	Branch string
	At     name.OID
}

// HeadFor returns the commit for HEAD of a worktree: the one on which a checkpoint was made, or HEAD if
// that commit is not here, as in a clone that fetched the checkpoint only in part. It is empty if there
// is no commit at all.
func HeadFor(ctx context.Context, repo *git.Repo, made name.OID) name.OID {
	if made != "" {
		if _, err := repo.Commits.Read(ctx, string(made)); err == nil {
			return made
		}
	}
	return repo.Head.OID
}

// Add makes a worktree without files. Without a checkout git runs no post-checkout hook,
// which would not expect a worktree that the user did not ask for.
func Add(ctx context.Context, repo *git.Repo, p Place) error {
	head := []string{"--detach"}
	if p.Branch != "" {
		head = []string{"-b", p.Branch}
	}
	if _, err := repo.Output(ctx, slices.Concat([]string{"worktree", "add", "--no-checkout"}, head, []string{"--", p.Dir, string(p.At)})...); err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("the worktree %q cannot be made", p.Dir), Err: err}
	}
	return nil
}

// Bulk gives a worktree the files of a tree. It lets git write them, which is fast, as git
// writes only files that differ from the index. Other files in their place are overwritten.
func Bulk(ctx context.Context, repo *git.Repo, tree name.OID) error {
	_, err := repo.Run(ctx, git.Cmd{Args: []string{"read-tree", "--reset", "-u", string(tree)}, Config: []string{"submodule.recurse=false"}})
	return err
}

// Fill gives a new worktree everything that a checkpoint holds: the exact bytes of files,
// permission bits, and what was staged. Git writes most of it; the rest is done as a
// restore.
func Fill(ctx context.Context, s *checkpoint.Service, t snapshot.Target) error {
	bulk := t.Tree
	sparse, err := s.Repo.Config.Bool("core.sparseCheckout", false) // git would leave files out
	i := t.Index
	plain := err == nil && !sparse && i != nil && i.Tree != "" && i.Plain() && len(t.Raw) == 0
	// Git can write the index, too. If we wrote it, git would then have to read every file that is
	// younger than a second.
	if plain {
		bulk, t.Index = i.Tree, nil
	}
	if err := Bulk(ctx, s.Repo, bulk); err != nil {
		return err
	}
	if err := forgetSizes(ctx, s.Repo, t); err != nil {
		return err
	}
	if err := modes(s.Repo, t); err != nil {
		return err
	}
	if plain && bulk == t.Tree {
		return nil // git has written everything
	}
	restore, err := plan(ctx, s, t)
	if err != nil {
		return err
	}
	// A kill from here on leaves a rollback that was cut off, in a worktree with a note.
	err = restore.Begin([]byte("{}"))
	if err == nil {
		err = restore.Apply(ctx)
	}
	if err != nil {
		restore.Cancel()
		return err
	}
	return restore.Finish(ctx)
}

// Move gives a worktree the files of a checkpoint with their exact bytes. Files that
// neither this checkpoint nor the one before has stay, such as the caches of a build.
func Move(ctx context.Context, repo *git.Repo, t snapshot.Target) error {
	if err := Bulk(ctx, repo, t.Tree); err != nil {
		return err
	}
	root, err := os.OpenRoot(repo.WorkTree)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // what was written in it is closed
	for p, oid := range t.Raw {
		blob, err := repo.Objects.Batch().Typed(ctx, string(oid), "blob")
		if err == nil {
			err = root.WriteFile(filepath.FromSlash(p), blob.Data, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return modes(repo, t)
}

// forgetSizes removes the stat data of files whose exact bytes are not what git would
// write. Git takes a file whose size differs from that in the index for changed, without
// reading it.
func forgetSizes(ctx context.Context, repo *git.Repo, t snapshot.Target) error {
	if len(t.Raw) == 0 {
		return nil
	}
	var in strings.Builder
	for p := range t.Raw {
		e, known, err := repo.Trees.Lookup(ctx, t.Tree, p)
		if err != nil {
			return err
		}
		if known {
			in.WriteString(git.InfoLine(e, 0, p))
		}
	}
	_, err := repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(in.String())})
	return err
}

// plan finds what is still to be done after git has written the files: exact bytes, and the
// index.
func plan(ctx context.Context, s *checkpoint.Service, t snapshot.Target) (*snapshot.Restore, error) {
	shot, err := s.Worktree()
	if err != nil {
		return nil, err
	}
	// There is no limit of size, because the files come from a checkpoint.
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

// modes sets the permission bits of files and directories, most of which git does not keep.
func modes(repo *git.Repo, t snapshot.Target) error {
	root, err := os.OpenRoot(repo.WorkTree)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only read
	// The content of a directory before the directory.
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(t.Modes))) {
		mode := t.Modes[p]
		at, isDir := strings.CutSuffix(p, "/")
		if isDir {
			// Files are still written there, as in a rollback.
			mode |= 0o300
		}
		if isDir && !git.RefusedName(at, false) { // it may have held no file
			root.MkdirAll(filepath.FromSlash(at), 0o777) //nolint:errcheck // Lstat says more
		}
		info, err := root.Lstat(filepath.FromSlash(at))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (info.IsDir() != isDir || info.Mode()&fs.ModeSymlink != 0) {
			continue
		}
		if err == nil {
			err = root.Chmod(filepath.FromSlash(at), mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Clear removes a worktree that was left half-made, and its note. Git locks a worktree
// while it makes it, so locked ones are removed, too.
func (n *Note) Clear(ctx context.Context, s *checkpoint.Service) error {
	admin := n.registered(s.Repo)
	_, err := os.Lstat(filepath.Join(n.Dir, ".git"))
	if err == nil || admin != "" {
		if err := Remove(ctx, s.Repo, n.Dir, "--force"); err != nil {
			if admin == "" || !isBare(n.Dir) {
				return err
			}
			// Git refuses to remove a worktree that it has not finished. There is no file
			// in it yet, so it can be removed by hand.
			if err := errors.Join(os.RemoveAll(admin), os.RemoveAll(filepath.Join(n.Dir, ".git"))); err != nil {
				return err
			}
		}
	}
	// What git has not begun is at most an empty directory.
	if err := os.Remove(n.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return n.End()
}

// isBare reports whether a worktree contains nothing but its .git file.
func isBare(dir string) bool {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != ".git" })
}

// registered returns git's administrative directory of the worktree, or "" if git does not
// know it. The worktree itself may have no file yet.
func (n *Note) registered(repo *git.Repo) string {
	for _, w := range repo.Linked() {
		if samePlace(w.Dir, n.Dir) {
			return w.Admin
		}
	}
	return ""
}

// Locked reports whether somebody has locked a worktree, so that nobody removes it.
func Locked(repo *git.Repo, dir string) bool {
	return slices.ContainsFunc(repo.Linked(), func(w git.Linked) bool {
		_, err := os.Lstat(filepath.Join(w.Admin, "locked"))
		return err == nil && samePlace(w.Dir, dir)
	})
}

// Gone says how to find the linked worktrees in which agents worked lately and that are gone; "" if there are none.
func Gone(ctx context.Context, s *store.Store) string {
	const lately = 7 * 24 * time.Hour // how long Gone speaks of a worktree
	states, err := checkpoint.States(ctx, s, "")
	if err != nil {
		return "" // other commands say so
	}
	dirs, _ := checkpoint.OwnDirs(s.Repo) //nolint:errcheck // without the linked ones
	living := gather.Set(dirs, func(dir checkpoint.OwnDir) string { return dir.Said(checkpoint.WorktreeIDFile) })
	gone, had := map[string]bool{}, s.LinkedIDs()
	for _, st := range states {
		if st.Workflow != workflow.AgentName || st.NewestEntry() == nil || s.Now().Sub(st.UpdatedAt) > lately {
			continue
		}
		if at := st.NewestEntry().Event(); slices.Contains(had, at.WorktreeID) && !living[at.WorktreeID] {
			gone[at.WorktreeID] = true
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return render.Count(len(gone), "worktree of an agent is gone", "worktrees of agents are gone") + ": git checkpoint fork --list shows how to bring back what was there"
}

// samePlace reports whether two paths are those of the same directory, which may not exist.
// Git resolves symbolic links in what it writes down.
func samePlace(a, b string) bool {
	same := func(a, b string) bool {
		x, err := os.Stat(a)
		y, err2 := os.Stat(b)
		return err == nil && err2 == nil && os.SameFile(x, y)
	}
	return a == b || same(a, b) || filepath.Base(a) == filepath.Base(b) && same(filepath.Dir(a), filepath.Dir(b))
}

// Remove removes a linked worktree with its content. It fails if the user has locked the worktree, unless locked is
// --force.
func Remove(ctx context.Context, repo *git.Repo, dir string, locked ...string) error {
	if _, err := repo.Output(ctx, slices.Concat([]string{"worktree", "remove", "--force"}, locked, []string{"--", dir})...); err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("the worktree %q cannot be removed", dir), Err: err}
	}
	return nil
}
