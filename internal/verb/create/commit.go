package create

// This file commits a step on the branch of its session, where the workflow has a commit for each
// step. It is the only place in which a create changes something of the user's: the index, as `git add
// -A` does, and the branch. The order is such that a kill leaves no change staged in reverse:
//
//   - planCommit checks that the create is not refused, runs the hooks and writes the commit. So far
//     there are only objects.
//   - follow, in the transaction, puts the files into the index and makes the commit the parent of the
//     checkpoint. If another checkpoint took the id, the commit is written again, with the new id.
//   - The transaction moves the branch together with the refs of the checkpoint.
//
// Where no commit can be made, the checkpoint is made without it, and `land` can make it later.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/commits"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// stepCommit is the commit that a create makes of its step.
type stepCommit struct {
	branch  name.Ref
	from    name.OID // where the branch is before
	draft   commits.Draft
	changes []git.Change // of the commit
	id      name.ID      // the checkpoint that the message names
	oid     name.OID     // the commit
	tries   int          // of the transaction
	raw     []byte       // its content
	staged  bool         // tries of the transaction so far
	was     snapshot.IndexState
	before  []byte // the index file before it was changed; nil: there was none
	after   []byte
}

// planCommit writes the commit of the step as an object, if the create is to make one.
func (c *captured) planCommit(ctx context.Context, definition definition) error {
	in := c.in
	if in.req.Fork != nil || !c.def.CommitsSteps() || in.head.oid == "" {
		return nil
	}
	st, err := in.view(ctx)
	if err != nil || st == nil || !checkpoint.CommitsSteps(st) || name.Ref(st.Branch) != in.s.Repo.Head.Branch {
		return err
	}
	// A create that is refused must run no hook.
	d, err := c.compose(ctx, st)
	if err != nil || !d.spot.Milestone {
		return err
	}
	k := &stepCommit{branch: in.s.Repo.Head.Branch, from: in.head.oid, draft: commits.Draft{Label: d.record.Label, At: in.at}}
	if err := k.prepare(ctx, d, definition); err != nil {
		return c.withoutCommit(ctx, err)
	}
	return nil
}

// prepare decides what the commit contains, and writes it. captured.landing stays nil if no file has
// changed.
func (k *stepCommit) prepare(ctx context.Context, d *draft, definition definition) error {
	got, s, base, ix := d.got, d.in.s, d.in.head.tree, d.got.capture.Index
	if err := commits.Refuse(ctx, s.Repo); err != nil {
		return err
	}
	switch {
	case len(ix.Unmerged) > 0:
		return errors.New("there are files with conflicts")
	case ix.Tree == "":
		return errors.New("what is staged is not known")
	case d.in.head.lost:
		return errors.New("the commit of HEAD cannot be read")
	}
	hidden := clearance.HiddenPaths(ix.AssumeUnchanged, ix.SkipWorktree, ix.SparsePresent)
	tree, err := commits.Landable(ctx, s.Repo, base, got.capture.Tree, got.capture.Ignored, slices.Collect(maps.Keys(hidden)))
	if err != nil || tree == base {
		return err
	}
	if k.draft.Tree, err = commits.PreCommit(ctx, s.Repo, tree); err != nil {
		return err
	}
	if k.draft.Tree != tree { // the hook changed files, and the checkpoint is to have them, too
		if err := got.captureWatched(ctx, definition); err != nil || k.draft.Tree == base {
			return err
		}
	}
	if k.changes, err = s.Repo.Trees.Diff(ctx, base, k.draft.Tree); err != nil {
		return err
	}
	if err := k.write(ctx, d); err != nil {
		return err
	}
	err = clearance.MayLeave(ctx, s, clearance.Sending{
		To: "branch " + k.branch.Short(), Tips: []name.OID{k.oid}, Held: []name.OID{k.from}, Labels: []clearance.Holder{{Commit: k.oid, Label: d.record.Label}},
	})
	if err == nil {
		err = commits.MayMove(ctx, s.Repo, k.branch, k.from, k.oid)
	}
	if err == nil {
		got.landing = k
	}
	return err
}

// write writes the commit with the id of the checkpoint in its message.
func (k *stepCommit) write(ctx context.Context, d *draft) (err error) {
	s := d.in.s
	if k.id == d.record.ID {
		return nil
	}
	k.draft.Label = d.record.Label
	if k.draft.Message, err = commits.Message(ctx, s.Repo, StepMessage(s.Repo, d.got.def, d.record, k.changes), d.record.ID); err != nil {
		return err
	}
	if err := k.draft.Edit(ctx, s.Repo); err != nil {
		return err
	}
	if k.oid, err = k.draft.Write(ctx, s.Rules, k.from); err != nil {
		return err
	}
	k.id = d.record.ID
	o, err := s.Repo.Objects.Batch().Typed(ctx, string(k.oid), "commit")
	k.raw = o.Data
	return err
}

// follow makes the commit the parent of the checkpoint, and returns the update that moves the
// branch. It returns nil if the commit was given up.
func (k *stepCommit) follow(ctx context.Context, d *draft) (*git.Update, error) {
	const lockTries = 7 // how often the transaction is tried while the branch is locked. The tries take about a second
	got, s := d.got, d.in.s
	var err error
	if s.Repo.Checkout.HeadNow(ctx) != s.Repo.Head {
		err = errors.New("HEAD has moved meanwhile")
	}
	// Do not wait as long for this lock as for one on our own refs.
	k.tries++
	for _, file := range []string{filepath.Join(s.Repo.CommonDir, filepath.FromSlash(string(k.branch))), filepath.Join(s.Repo.GitDir, "HEAD")} {
		if _, absent := os.Lstat(file + ".lock"); err == nil && k.tries > lockTries && absent == nil {
			err = fmt.Errorf("the branch is locked by another process: %q exists", file+".lock")
		}
	}
	if err == nil {
		err = k.write(ctx, d)
	}
	if err == nil {
		err = k.stage(ctx, got)
	}
	if err != nil {
		return nil, got.withoutCommit(ctx, err)
	}
	d.record.Git.Head, d.record.Git.Index, d.record.Git.Staged = k.oid, got.capture.Index.Tree, nil
	delete(d.record.Git.Extra, string(record.StagedCut))
	d.record.Git.IntentToAdd = ToPaths(got.capture.Index.IntentToAdd)
	return &git.Update{Ref: k.branch, New: k.oid, Old: k.from, Reason: "commit: " + strings.SplitN(k.draft.Message, "\n", 2)[0]}, nil
}

// stage puts the files of the commit into the index. Other staged files stay staged.
func (k *stepCommit) stage(ctx context.Context, c *captured) error {
	if k.staged {
		return nil
	}
	repo := c.in.s.Repo
	changes, err := repo.Trees.Diff(ctx, c.capture.Index.Tree, k.draft.Tree)
	if err != nil {
		return err
	}
	if k.before, err = os.ReadFile(repo.IndexPath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var removed, added strings.Builder // a file may take the place of a directory
	landed := map[string]bool{}
	for _, ch := range changes {
		if landed[ch.Path] = true; ch.New.Mode == 0 {
			removed.WriteString("0 " + strings.Repeat("0", 2*repo.HashLen()) + "\t" + ch.Path + "\x00")
		} else {
			added.WriteString(git.InfoLine(ch.New, 0, ch.Path))
		}
	}
	for _, path := range c.capture.Index.IntentToAdd { // an entry without content, even where the file is empty
		if e, in, err := repo.Trees.Lookup(ctx, k.draft.Tree, path); err == nil && in && !landed[path] {
			landed[path] = true
			added.WriteString(git.InfoLine(e, 0, path))
		}
	}
	if _, err := repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(removed.String() + added.String())}); err != nil {
		if lock := git.HeldLock(err); lock != "" {
			err = fmt.Errorf("the index is locked by another process: %q exists", lock)
		}
		return err
	}
	// An entry that was added again has lost its flags. If the refresh fails, git does it later
	// itself.
	for flag, paths := range map[string][]string{"--skip-worktree": c.capture.Index.SkipWorktree, "--assume-unchanged": c.capture.Index.AssumeUnchanged} {
		paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !landed[path] })
		if len(paths) > 0 {
			_, _ = repo.Run(ctx, git.Cmd{Args: []string{"update-index", flag, "-z", "--stdin"}, Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")}) //nolint:errcheck // see above
		}
	}
	_, _ = repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-q", "--refresh"}}) //nolint:errcheck // see above
	if k.after, err = os.ReadFile(repo.IndexPath); err != nil {
		return err
	}
	ix := &c.capture.Index
	k.staged, k.was = true, *ix
	ix.Tree = k.draft.Tree
	ix.IntentToAdd = slices.DeleteFunc(slices.Clone(ix.IntentToAdd), func(path string) bool { return landed[path] })
	return nil
}

// unstage puts the index back, unless somebody has changed it since.
func (k *stepCommit) unstage(c *captured) {
	if !k.staged {
		return
	}
	k.staged, c.capture.Index = false, k.was
	path := c.in.s.Repo.IndexPath
	info, err := os.Stat(path)
	if err != nil || k.before == nil {
		return
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return // another process is about to change it
	}
	_, err = lock.Write(k.before)
	err = errors.Join(err, lock.Close())
	if now, readErr := os.ReadFile(path); err == nil && readErr == nil && bytes.Equal(now, k.after) && os.Rename(path+".lock", path) == nil {
		return
	}
	os.Remove(path + ".lock") //nolint:errcheck // ours
}

// parent returns the commit that the checkpoint has as its parent, empty if there is none.
func (c *captured) parent() name.OID {
	switch {
	case c.landing != nil:
		return c.landing.oid
	case c.in.head.lost:
		return ""
	}
	return c.in.head.oid
}

// withoutCommit gives the commit up, and keeps the reason for the user. It returns an error if the create cannot go on either.
func (c *captured) withoutCommit(ctx context.Context, why error) error {
	if k := c.landing; k != nil {
		k.unstage(c)
		c.landing = nil
	}
	c.unlanded = append([]string{"no commit was made: " + strings.TrimSuffix(checkpoint.MessageOf(why), ", so no commit was made") + "; `git checkpoint land` makes it later"}, checkpoint.HintsOf(why)...)
	return context.Cause(ctx)
}

// landed is called after the transaction. It completes the commit, or abandons it and reports
// whether the checkpoint can be made without it.
func (c *captured) landed(ctx context.Context, err error) (again bool) {
	if c.landing == nil {
		return false
	}
	if _, missing := errors.AsType[*store.MissingObjectsError](err); err == nil || missing {
		c.in.s.Repo.Checkout.Refresh(ctx) // HEAD has moved, so read it again
		commits.RunPostCommit(ctx, c.in.s.Store)
		return false
	}
	stopped := c.withoutCommit(ctx, err)
	_, ours := errors.AsType[*checkpoint.Error](err)
	_, busy := errors.AsType[*store.BusyError](err)
	return stopped == nil && !ours && !busy
}
