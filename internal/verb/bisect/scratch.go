package bisect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/verb/rollback"
)

// scratch is a worktree that is moved from checkpoint to checkpoint. Only files that differ
// are written, and the products of a build stay, so that each build is incremental.
type scratch struct {
	s    *checkpoint.Service // of the user's worktree
	in   *checkpoint.Service // of the scratch worktree
	st   *journal.State
	note *linked.Note
	head name.OID // the commit on which HEAD is in the scratch worktree
}

// newScratch makes the worktree beside the user's, and removes those that a killed bisect
// left.
func newScratch(ctx context.Context, s *checkpoint.Service, st *journal.State, first *journal.Entry) (_ *scratch, err error) {
	left, err := linked.Left(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	for _, n := range left {
		if n.Kind == linked.KindBisect {
			if err := n.Clear(ctx, s); err != nil {
				s.Store.Warn(err.Error())
			}
		}
	}
	x := &scratch{s: s, st: st}
	if x.head, err = headOf(ctx, s.Store, first); err != nil {
		return nil, err
	}
	dir := filepath.Join(filepath.Dir(s.Repo.WorkTree), filepath.Base(s.Repo.WorkTree)+"-bisect-"+strconv.Itoa(os.Getpid()))
	if x.note, err = linked.Begin(s.Repo, linked.Note{Kind: linked.KindBisect, Name: strconv.Itoa(os.Getpid()), Dir: dir}); err != nil {
		return nil, err
	}
	if err = linked.Add(ctx, s.Repo, linked.Place{Dir: dir, At: x.head}); err == nil {
		x.in, err = checkpoint.OpenAt(ctx, s, dir)
	}
	if err != nil {
		return nil, errors.Join(err, x.close(context.WithoutCancel(ctx)))
	}
	return x, nil
}

// headOf returns the commit on which a checkpoint was made, or HEAD if that commit is not
// here.
func headOf(ctx context.Context, s *store.Store, e *journal.Entry) (name.OID, error) {
	rec, err := checkpoint.ReadRecord(ctx, s, e)
	if err != nil {
		return "", checkpoint.DamagedError(e, err)
	}
	head := linked.HeadFor(ctx, s.Repo, rec.Git.Head)
	if head == "" {
		return "", checkpoint.Failure(checkpoint.KindRefused, "--where needs no worktree", "there is no commit yet, and the scratch worktree needs one")
	}
	return head, nil
}

// close removes the worktree.
func (x *scratch) close(ctx context.Context) error {
	if x.in != nil {
		x.in.Close()
	}
	return x.note.Clear(ctx, x.s)
}

// test moves the worktree to a checkpoint and runs the command.
func (x *scratch) test(ctx context.Context, e *journal.Entry, req Request) (Verdict, int, error) {
	const codeSkip, codeStops = 125, 128 // as in `git bisect run`
	if err := x.move(ctx, e); err != nil {
		return "", 0, err
	}
	// Ctrl+C would end git's helper processes as well, so close them first.
	x.in.Repo.Close()
	signals, stop := command.Watch()
	defer stop()
	end, err := command.Command{
		Args: req.Command, Dir: x.in.Repo.WorkTree, Env: append(x.in.Env[:len(x.in.Env):len(x.in.Env)], "GIT_CHECKPOINT_STEP="+strconv.Itoa(e.Step)),
		In: req.IO.In, Out: req.IO.Out, Err: req.IO.Err,
	}.Run(signals)
	switch {
	case err != nil:
		return "", 0, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "the command could not be started at " + checkpoint.Said(ctx, x.s.Store, x.st, e), Err: err}
	case end.How != command.Exited:
		return "", 0, checkpoint.Failure(checkpoint.KindInterrupt, "", "interrupted")
	case end.Code >= codeStops:
		return "", 0, checkpoint.Failure(checkpoint.KindFailed, "0 means good, 125 means skip, any other code up to 127 means bad", "the command exited with code %d at %s, which stops the bisect", end.Code, checkpoint.Said(ctx, x.s.Store, x.st, e))
	case end.Code == codeSkip:
		return Skip, end.Code, nil
	case end.Code == 0:
		return Good, 0, nil
	}
	return Bad, end.Code, nil
}

// move brings the exact files of a checkpoint, and sets HEAD to the commit on which it was
// made.
func (x *scratch) move(ctx context.Context, e *journal.Entry) error {
	target, err := rollback.TargetOf(ctx, x.s, e)
	if err != nil {
		return err
	}
	if target.Tree == "" {
		return checkpoint.Failure(checkpoint.KindRefused, "--where needs none", "%s was imported without files", checkpoint.Said(ctx, x.s.Store, x.st, e))
	}
	head, err := headOf(ctx, x.s.Store, e)
	if err != nil {
		return err
	}
	if head != x.head {
		if _, err := x.in.Repo.Run(ctx, git.Cmd{Args: []string{"update-ref", "--no-deref", "HEAD", string(head)}}); err != nil {
			return err
		}
		x.head = head
	}
	return linked.Move(ctx, x.in.Repo, target)
}
