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
// With an error it returns the draft that was refused, which may be nil.
func (c *captured) planCommit(ctx context.Context, definition definition) (*draft, error) {
	if c.safety || c.req.Fork != nil || c.req.tree != "" || !c.def.CommitsSteps() || c.head == "" {
		return nil, nil
	}
	v, err := c.view(ctx)
	if err != nil || v.State == nil || !checkpoint.CommitsSteps(v.State) || name.Ref(v.State.Branch) != c.s.Repo.Head.Branch {
		return nil, err
	}
	// A create that is refused must run no hook.
	d, err := c.draft(ctx, v)
	if err != nil || !d.spot.Milestone {
		return d, err
	}
	k := &stepCommit{branch: c.s.Repo.Head.Branch, from: c.head, draft: commits.Draft{Label: d.record.Label, At: c.at}}
	if err := k.prepare(ctx, d, definition); err != nil {
		if ctx.Err() != nil {
			return d, context.Cause(ctx)
		}
		c.withoutCommit(err)
	}
	return d, nil
}

// prepare decides what the commit contains, and writes it. c.landing stays nil if no file has
// changed.
func (k *stepCommit) prepare(ctx context.Context, c *draft, definition definition) error {
	if err := commits.Refuse(ctx, c.s); err != nil {
		return err
	}
	if len(c.capture.Index.Unmerged) > 0 {
		return errors.New("there are files with conflicts")
	}
	if c.capture.Index.Tree == "" {
		return errors.New("what is staged is not known")
	}
	if c.headLost {
		return errors.New("the commit of HEAD cannot be read")
	}
	base := c.headTree
	ix := c.capture.Index
	hidden := clearance.HiddenPaths(ix.AssumeUnchanged, ix.SkipWorktree, ix.SparsePresent)
	tree, err := commits.Landable(ctx, c.s, base, c.capture.Tree, c.capture.Ignored, slices.Collect(maps.Keys(hidden)))
	if err != nil || tree == base {
		return err
	}
	if k.draft.Tree, err = commits.PreCommit(ctx, c.s, tree); err != nil {
		return err
	}
	if k.draft.Tree != tree { // the hook changed files, and the checkpoint is to have them, too
		again, watch, err := c.captureWatched(ctx, definition)
		if err != nil {
			return err
		}
		if c.capture, c.watch = again, watch; k.draft.Tree == base {
			return nil
		}
	}
	if k.changes, err = c.s.Repo.Trees.Diff(ctx, base, k.draft.Tree); err != nil {
		return err
	}
	if err := k.write(ctx, c); err != nil {
		return err
	}
	err = clearance.MayLeave(ctx, c.s, clearance.Sending{
		To: "branch " + k.branch.Short(), Tips: []name.OID{k.oid}, Held: []name.OID{k.from}, Labels: []clearance.Holder{{Commit: k.oid, Label: c.record.Label}},
	})
	if err == nil {
		err = commits.MayMove(ctx, c.s, k.branch, k.from, k.oid)
	}
	if err == nil {
		c.landing = k
	}
	return err
}

// write writes the commit with the id of the checkpoint in its message.
func (k *stepCommit) write(ctx context.Context, c *draft) (err error) {
	if k.id == c.record.ID {
		return nil
	}
	k.draft.Label = c.record.Label
	if k.draft.Message, err = commits.Message(ctx, c.s, StepMessage(c.s, c.def, c.record, k.changes), c.record.ID); err != nil {
		return err
	}
	if err := k.draft.Edit(ctx, c.s); err != nil {
		return err
	}
	if k.oid, err = k.draft.Write(ctx, c.s, k.from); err != nil {
		return err
	}
	k.id = c.record.ID
	o, err := c.s.Repo.Objects.Batch().Typed(ctx, string(k.oid), "commit")
	k.raw = o.Data
	return err
}

// follow makes the commit the parent of the checkpoint, and returns the update that moves the
// branch. It returns nil without a commit.
func (c *draft) follow(ctx context.Context) (*git.Update, error) {
	const lockTries = 7 // how often the transaction is tried while the branch is locked. The tries take about a second
	k := c.landing
	if k == nil {
		return nil, nil
	}
	if c.s.Repo.Checkout.HeadNow(ctx) != c.s.Repo.Head {
		c.withoutCommit(errors.New("HEAD has moved meanwhile"))
		return nil, nil
	}
	// Do not wait as long for this lock as for one on our own refs.
	if k.tries++; k.tries > lockTries {
		for _, file := range []string{filepath.Join(c.s.Repo.CommonDir, filepath.FromSlash(string(k.branch))), filepath.Join(c.s.Repo.GitDir, "HEAD")} {
			if _, err := os.Lstat(file + ".lock"); err == nil {
				c.withoutCommit(fmt.Errorf("the branch is locked by another process: %q exists", file+".lock"))
				return nil, nil
			}
		}
	}
	err := k.write(ctx, c)
	if err == nil {
		err = k.stage(ctx, c.captured)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.withoutCommit(err)
		return nil, nil
	}
	c.record.Git.Head, c.record.Git.Index, c.record.Git.Staged = k.oid, c.capture.Index.Tree, nil
	delete(c.record.Git.Extra, string(record.StagedCut))
	c.record.Git.IntentToAdd = ToPaths(c.capture.Index.IntentToAdd)
	return &git.Update{Ref: k.branch, New: k.oid, Old: k.from, Reason: "commit: " + strings.SplitN(k.draft.Message, "\n", 2)[0]}, nil
}

// stage puts the files of the commit into the index. Other staged files stay staged.
func (k *stepCommit) stage(ctx context.Context, c *captured) error {
	if k.staged {
		return nil
	}
	changes, err := c.s.Repo.Trees.Diff(ctx, c.capture.Index.Tree, k.draft.Tree)
	if err != nil {
		return err
	}
	if k.before, err = os.ReadFile(c.s.Repo.IndexPath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var removed, added strings.Builder // a file may take the place of a directory
	landed := map[string]bool{}
	for _, ch := range changes {
		if landed[ch.Path] = true; ch.New.Mode == 0 {
			removed.WriteString("0 " + strings.Repeat("0", 2*c.s.Repo.HashLen()) + "\t" + ch.Path + "\x00")
		} else {
			added.WriteString(git.InfoLine(ch.New, 0, ch.Path))
		}
	}
	for _, path := range c.capture.Index.IntentToAdd { // an entry without content, even where the file is empty
		if e, in, err := c.s.Repo.Trees.Lookup(ctx, k.draft.Tree, path); err == nil && in && !landed[path] {
			landed[path] = true
			added.WriteString(git.InfoLine(e, 0, path))
		}
	}
	if _, err := c.s.Repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(removed.String() + added.String())}); err != nil {
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
			_, _ = c.s.Repo.Run(ctx, git.Cmd{Args: []string{"update-index", flag, "-z", "--stdin"}, Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")}) //nolint:errcheck // see above
		}
	}
	_, _ = c.s.Repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-q", "--refresh"}}) //nolint:errcheck // see above
	if k.after, err = os.ReadFile(c.s.Repo.IndexPath); err != nil {
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
	path := c.s.Repo.IndexPath
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

// committed returns the commit that the checkpoint has as its parent, and the tree of that commit, both
// empty if there is none.
func (c *captured) committed() (commit, tree name.OID) {
	switch {
	case c.landing != nil:
		return c.landing.oid, c.landing.draft.Tree
	case c.headLost:
		return "", ""
	}
	return c.head, c.headTree
}

// withoutCommit goes on without the commit and keeps the reason for the user.
func (c *captured) withoutCommit(why error) {
	if k := c.landing; k != nil {
		k.unstage(c)
		c.landing = nil
	}
	c.unlanded = append([]string{"no commit was made: " + strings.TrimSuffix(checkpoint.MessageOf(why), ", so no commit was made") + "; `git checkpoint land` makes it later"}, checkpoint.HintsOf(why)...)
}

// landed is called after the transaction. It completes the commit, or abandons it and reports
// whether the checkpoint can be made without it.
func (c *captured) landed(ctx context.Context, err error) (again bool) {
	k := c.landing
	if k == nil {
		return false
	}
	if _, missing := errors.AsType[*store.MissingObjectsError](err); err == nil || missing {
		c.s.Repo.Checkout.Refresh(ctx) // HEAD has moved, so read it again
		commits.After(ctx, c.s)
		return false
	}
	c.withoutCommit(err)
	_, ours := errors.AsType[*checkpoint.Error](err)
	_, busy := errors.AsType[*store.BusyError](err)
	return ctx.Err() == nil && !ours && !busy
}
