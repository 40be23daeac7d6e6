package rollback

// An undo takes back what a rollback or a landing did to a branch. What somebody has committed on
// top of that since is not part of it, and is not taken off the branch unasked.

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/create"
)

// refuseBuiltOn refuses an undo or redo that would take commits off a branch that were made after
// one of the moves that it takes back, unless UndoRequest.Force allows it.
func (r *fileMoves) refuseBuiltOn(ctx context.Context) error {
	if r.takeCommits {
		return nil
	}
	before := r.partsBefore(0)
	for i, l := range r.levels {
		if before[i+1].head != i {
			continue // it moves no branch
		}
		goal, err := r.heldBy(ctx, i)
		if err != nil {
			return err
		}
		now, err := r.heldBy(ctx, before[i].head)
		if err != nil {
			return err
		}
		if goal.branch != now.branch { // the branch that HEAD is on stays, and another one moves
			if now.commit = ""; goal.branch != "" && before[i].head == thisUndo {
				now.commit = refNow(ctx, r.s.Repo, goal.branch)
			}
		}
		commits, err := r.builtOn(ctx, l.Head, now.commit, goal)
		if err != nil {
			return err
		}
		if len(commits) > 0 {
			return wouldTakeOff(r.lists.named(ctx, r.s.Store, l.Rollback), goal.branch, commits, r.direction)
		}
	}
	return nil
}

// builtOn lists the commits, one a line, that are on the branch now, were not there after a move,
// and are not where the branch goes.
func (r *target) builtOn(ctx context.Context, move *journal.Event, now name.OID, goal held) ([]string, error) {
	if now == "" || now == goal.commit {
		return nil, nil
	}
	args := []string{"log", "--no-show-signature", "--no-decorate", "--no-color", "--format=%h %s", string(now), "--not"}
	for _, oid := range []name.OID{goal.commit, r.movedTo(ctx, move, goal.branch)} {
		if hasCommit(ctx, r.s.Repo, oid) {
			args = append(args, string(oid))
		}
	}
	out, err := r.s.Repo.Output(ctx, append(args, "--")...)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// movedTo returns the commit that a rollback, an undo or a landing moved a branch to. It is empty if
// that is not known.
func (r *target) movedTo(ctx context.Context, move *journal.Event, branch name.Ref) name.OID {
	e := r.lists.restoredBy(move)
	landed := move.Mode == string(ModeLand) && move.Kind != journal.KindUndo
	if landed {
		e = r.lists.entry(move.Safety)
	}
	if isGone(e) {
		return ""
	}
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
	if err != nil {
		return ""
	}
	if landed {
		to, _ := create.MemberLanded.Of(rec.Git.Extra)
		return to
	}
	if b, _ := create.MemberAside.Of(rec.Git.Extra); b.Name == branch && move.Kind == journal.KindUndo {
		return b.From // the undo moved it although HEAD was not on it
	}
	return rec.Git.Head
}

// wouldTakeOff returns the error for an undo or redo that would take commits off a branch.
func wouldTakeOff(what string, branch name.Ref, commits []string, d direction) error {
	const maxCommitsNamed = 10 // how many commits an error names
	where := "HEAD"
	if branch != "" {
		where = "branch " + branch.Short()
	}
	count, them := fmt.Sprintf("%d commits were", len(commits)), "them"
	if len(commits) == 1 {
		count, them = "1 commit was", "it"
	}
	e := checkpoint.Failure(checkpoint.KindRefused, "", "%s made after %s, and the %s would take %s off %s", count, what, d, them, where)
	e.Hints = render.First(commits, maxCommitsNamed, "… and %d more", func(commit string) string { return commit })
	e.Hints = append(e.Hints, "--force takes "+them+" off as well; the safety checkpoint keeps "+them)
	return e
}
