package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Checkout is what is checked out in this worktree: HEAD, the index, and the operation in progress, such
// as a merge.
type Checkout struct {
	at      *Location
	trees   *Trees
	commits *Commits
}

// Refresh reads HEAD again, because another program may have moved it. If git does not answer, the
// old values stay: half an answer would read as an unborn branch or a detached HEAD. If the
// directory in which the command was started is gone, Prefix becomes the top of the worktree. A
// cancelled context does not stop it.
func (c *Checkout) Refresh(ctx context.Context) {
	if head := c.HeadNow(ctx); head != (Head{}) {
		c.at.Head = head
	}
	if _, err := os.Stat(filepath.Join(c.at.WorkTree, c.at.Prefix)); err != nil {
		c.at.Prefix = "" // the directory is gone
	}
}

// HeadNow reads where HEAD is, while the member Head says where it was. It returns a zero Head if
// git does not answer. A cancelled context does not stop it: what goes back after an interrupt needs
// to know.
func (c *Checkout) HeadNow(ctx context.Context) Head {
	ctx = context.WithoutCancel(ctx)
	fresh := &Location{GitDir: c.at.GitDir, WorkTree: c.at.WorkTree, program: c.at.program, env: c.at.env}
	// With -q, both say with the exit code 1 that there is no commit, or no branch.
	ask := func(args ...string) (string, bool) {
		out, err := fresh.Output(ctx, args...)
		return out, err == nil || ExitCode(err) == 1
	}
	oid, answered := ask("rev-parse", "--verify", "-q", "HEAD")
	branch, too := ask("symbolic-ref", "-q", "HEAD")
	if !answered || !too {
		return Head{}
	}
	return Head{OID: name.OID(oid), Branch: name.Ref(branch)}
}

// HeadTree returns the tree of HEAD's commit. It is empty when HEAD is unborn or its commit cannot
// be read.
func (c *Checkout) HeadTree(ctx context.Context) name.OID {
	if c.at.Head.OID == "" {
		return ""
	}
	if commit, err := c.commits.Read(ctx, string(c.at.Head.OID)); err == nil {
		return commit.Tree
	}
	return ""
}

// HeadMove says where MoveHead puts HEAD.
type HeadMove struct {
	Branch name.Ref // the branch that HEAD is to be on; empty: HEAD is to be detached
	To     name.OID // the commit; empty: the branch is to have none, as before the first
	Old    name.OID // what the branch, or HEAD where it is to be detached, must point to before; empty: it must not exist
	Reason string   // for the reflog, on one line or more
}

// MoveHead moves a branch to a commit and puts HEAD on it, or detaches HEAD there. It works in
// three steps: it sets ORIG_HEAD, moves the branch (or HEAD), and switches HEAD to the branch if it
// is on another one. git writes the reflogs. The error is a LockedError when another process holds
// one of the locks. Index and files are not touched.
func (c *Checkout) MoveHead(ctx context.Context, m HeadMove) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // stopping between the steps would leave half of the move
	message := "checkpoint: " + strings.Join(strings.Fields(m.Reason), " ")
	run := func(what string, args ...string) error {
		_, err := c.at.Run(ctx, Cmd{Args: args})
		if lock := HeldLock(err); lock != "" {
			err = &LockedError{Path: lock}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	if c.at.Head.OID != "" {
		if err := run("set ORIG_HEAD", "update-ref", "ORIG_HEAD", string(c.at.Head.OID)); err != nil {
			return err
		}
	}
	ref, args := string(m.Branch), []string{"update-ref", "-m", message}
	if ref == "" {
		ref, args = "HEAD", append(args, "--no-deref")
	}
	// For git an empty old value means that the ref must not exist, and zeros that it is not to.
	args = append(args, ref, cmp.Or(string(m.To), strings.Repeat("0", 2*c.at.HashLen())), string(m.Old))
	if err := run("move "+ref, args...); err != nil || m.Branch == "" {
		return err
	}
	if now, err := c.at.Output(ctx, "symbolic-ref", "-q", "HEAD"); err == nil && now == ref {
		return nil
	}
	return run("switch to "+ref, "symbolic-ref", "-m", message, "HEAD", ref)
}
