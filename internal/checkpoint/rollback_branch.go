package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// planBranch says how HEAD lies to the recorded commit, and whether it moves.
func (r *Rollback) planBranch(ctx context.Context) error {
	g, b := r.record.Git, &r.answer.Branch
	b.Name, b.From, b.To = r.s.repo.Head.Branch, r.s.repo.Head.OID, g.Head
	move := r.req.Branch == BranchMove || r.req.Branch == BranchDefault && ownsBranch(r.to.state) && r.req.Mode == ModeAll
	if r.s.repo.Operation() != "" || r.req.Mode == ModeState {
		move = false
	}
	b.Target = name.Ref(g.Branch)
	b.Moved = move && (b.From != b.To || b.Name != b.Target)
	if !b.Moved {
		b.Target = ""
	}
	if b.From != b.To && b.From != "" && b.To != "" {
		n, err := r.s.repo.CountBetween(ctx, b.To, b.From)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			r.answer.Warnings = append(r.answer.Warnings, "the commits between cannot be counted: "+err.Error())
		}
		b.CommitsLeft = n
	}
	if err := r.planBack(ctx); err != nil || !b.Moved {
		return err
	}
	if b.To == "" {
		return &Error{Kind: KindRefused, Message: "the checkpoint was made before the first commit; a branch cannot be moved there", Hints: []string{"--keep-branch restores files and index only"}}
	}
	if err := r.s.branchIsFree(ctx, b.Target); err != nil {
		return err
	}
	return r.leaveBehind(ctx)
}

// leaveBehind looks at a branch that HEAD is not on and that is to move: the safety
// checkpoint keeps the commits of HEAD, so what only that branch has would be lost.
func (r *Rollback) leaveBehind(ctx context.Context) error {
	b := &r.answer.Branch
	if b.Target == "" || b.Target == b.Name {
		return nil
	}
	was, err := r.s.repo.Batch().Resolve(ctx, b.Target)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return classify(err)
	}
	if was == b.To {
		return nil
	}
	r.aside = &BranchBack{Name: b.Target, From: was, To: b.To}
	if was == "" {
		return nil
	}
	short := strings.TrimPrefix(string(b.Target), "refs/heads/")
	lost, err := r.s.repo.Output(ctx, "rev-list", "--count", string(was), "--not", string(b.To), "--exclude="+string(b.Target), "--all", "--")
	if err != nil {
		return classify(err)
	}
	if lost != "0" {
		return &Error{
			Kind: KindRefused, Message: fmt.Sprintf("branch %s is at %s, and nothing else holds what it has beyond the checkpoint's commit", short, was.Short()),
			Hints: []string{"`git switch " + short + "` first, then the safety checkpoint keeps it", "--keep-branch leaves HEAD and branches"},
		}
	}
	r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("branch %s moves too, from %s; an undo takes it back too, unless somebody moves it before", short, was))
	return nil
}

// memberAside is the member of a safety checkpoint's git that names the branch which the
// rollback moves although HEAD was not on it.
const memberAside = "aside"

// planBack has an undo take back the branch that HEAD was not on when the rollback moved
// it. Whoever moved it since had a reason, and one that the rollback made is kept.
func (r *Rollback) planBack(ctx context.Context) error {
	if r.undoes == nil || r.s.repo.Operation() != "" {
		return nil
	}
	was := asideOf(r.record)
	short, isBranch := strings.CutPrefix(string(was.Name), "refs/heads/")
	if !isBranch || string(was.Name) != r.undoes.Branch || was.Name == r.answer.Branch.Target {
		return nil
	}
	stays := func(why string) {
		r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("branch %s stays where it is: %s", short, why))
	}
	now, err := r.s.repo.Batch().Resolve(ctx, was.Name)
	switch {
	case err != nil && !errors.Is(err, git.ErrMissing):
		return classify(err)
	case now == "", now == was.From: // it is gone, or back already
	case was.From == "":
		stays("the rollback made it")
	case now != was.To:
		stays("it has moved since")
	case r.s.branchIsFree(ctx, was.Name) != nil:
		stays("another worktree is on it")
	case !r.s.hasCommit(ctx, was.From):
		stays("the commit that it was at is gone")
	default:
		r.answer.Branch.Back = &BranchBack{Name: was.Name, From: now, To: was.From}
	}
	return nil
}

// asideOf is what the record of a safety checkpoint says; the zero one when it is not that.
func asideOf(rec *record.Record) (b BranchBack) {
	if raw, ok := rec.Git.Extra[memberAside]; ok && json.Unmarshal(raw, &b) != nil {
		return BranchBack{}
	}
	return b
}

func (s *Service) hasCommit(ctx context.Context, oid name.OID) bool {
	_, err := name.ParseOID(string(oid))
	if err == nil {
		_, err = s.repo.ReadCommit(ctx, string(oid))
	}
	return err == nil
}

// takeBranchBack does what planBack planned. A branch that somebody moved meanwhile stays.
func (s *Service) takeBranchBack(ctx context.Context, b *BranchBack) {
	if b == nil {
		return
	}
	if err := s.moveBranch(ctx, b.Name, b.From, b.To); err != nil {
		s.warn(fmt.Sprintf("branch %s stays where it is: %v", strings.TrimPrefix(string(b.Name), "refs/heads/"), err))
	}
}

// moveBranch moves a branch that HEAD is not on, as long as it is at from. One that is
// there already is left alone.
func (s *Service) moveBranch(ctx context.Context, branch name.Ref, from, to name.OID) error {
	if now, err := s.repo.Output(ctx, "rev-parse", "-q", "--verify", string(branch)); err == nil && now == string(to) {
		return nil
	}
	_, err := s.repo.Output(ctx, "update-ref", "-m", "checkpoint: undo of a rollback", string(branch), string(to), string(from))
	return err
}

// branchIsFree refuses to move a branch that another worktree is on.
func (s *Service) branchIsFree(ctx context.Context, branch name.Ref) error {
	list, err := s.repo.Worktrees(ctx)
	if err != nil {
		return classify(err)
	}
	for _, w := range list {
		if branch != "" && w.Branch == branch && w.GitDir != s.repo.GitDir {
			return &Error{
				Kind: KindRefused, Message: fmt.Sprintf("branch %s is checked out in worktree %s", branch, w.Name),
				Hints: []string{"--keep-branch restores files and index only"},
			}
		}
	}
	return nil
}
