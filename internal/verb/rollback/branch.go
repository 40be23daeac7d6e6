package rollback

// This file plans what a rollback does to HEAD and to branches, and moves branches that HEAD is not
// on. By default a rollback moves neither: the user's commits stay where they are.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/create"
)

// branchMove is what a rollback does to HEAD and to branches.
type branchMove struct {
	checkpoint.BranchPlan
	was      name.OID               // where the branch is that moves; empty if there is none or it does not exist
	aside    *checkpoint.BranchBack // the branch that moves although HEAD is not on it
	warnings []string
}

// moveBranch plans how HEAD and the recorded commit are related, and whether HEAD and its branch move.
func (r *fileMoves) moveBranch(ctx context.Context, def *workflow.Definition) (b branchMove, err error) {
	if r.Branch != nil {
		return branchMove{BranchPlan: *r.Branch, was: r.Branch.From}, nil
	}
	place, err := r.headRecord(ctx)
	if err != nil {
		return b, err
	}
	g := place.Git
	b.Name, b.From, b.To = r.s.Repo.Head.Branch, r.s.Repo.Head.OID, g.Head
	move := r.movesTo(g)
	if !move && r.movesBranch() {
		b.warnings = append(b.warnings, "the commit that HEAD was at was expunged from the checkpoint, so the branch stays where it is")
	}
	b.Target = r.branchOf(g)
	if b, err = r.documentBranch(ctx, def, b, move); err != nil {
		return b, err
	}
	b.Moved = move && (b.From != b.To || b.Name != b.Target)
	if !b.Moved {
		b.Target = ""
	}
	if b.From != b.To && b.From != "" && b.To != "" {
		if b.Moved { // only those that no other branch has are left behind
			b.CommitsLeft, err = r.s.Repo.Commits.CountLeft(ctx, b.To, b.From, b.Target)
		} else {
			b.CommitsLeft, err = r.s.Repo.Commits.CountBetween(ctx, b.To, b.From)
		}
		if err != nil && !errors.Is(err, git.ErrMissing) {
			b.warnings = append(b.warnings, "the commits in between cannot be counted: "+err.Error())
		}
	}
	back, stays, err := r.branchBack(ctx, b.Target)
	b.Back, b.warnings = back, append(append(b.warnings, stays...), b.sent(ctx, r.s.Repo)...)
	if err != nil || !b.Moved {
		return b, err
	}
	if err := r.mayMove(ctx, b); err != nil {
		return b, err
	}
	return b.leaveBehind(ctx, r.s.Repo)
}

// sent warns if a remote has commits that leave the branch.
func (b *branchMove) sent(ctx context.Context, repo *git.Repo) []string {
	if !b.Moved || b.From == "" || b.To == "" {
		return nil
	}
	if n, err := repo.Commits.CountBetween(ctx, b.To, b.From); err != nil || n == 0 {
		return nil
	}
	at, _ := repo.Output(ctx, "for-each-ref", "--count=1", "--format=%(refname:short)", "--contains="+string(b.From), "refs/remotes/") //nolint:errcheck // nothing is known then
	if at = strings.TrimSpace(at); at == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s has the commits that leave the branch, and keeps them", render.Escape(at))}
}

// mayMove refuses a move of HEAD that is impossible, or that takes the user's commits off the branch.
func (r *fileMoves) mayMove(ctx context.Context, b branchMove) error {
	if b.To == "" && !r.Exact {
		return checkpoint.Failure(checkpoint.KindRefused, "--keep-branch restores only files and index", "the checkpoint was made before the first commit, so a branch cannot be moved to it")
	}
	if err := checkpoint.BranchIsFree(ctx, r.s.Repo, b.Target); err != nil {
		return err
	}
	return r.refuseBuiltOn(ctx)
}

// branchOf returns the branch that HEAD would be put on; empty: none. A rebuilt record does not know
// its branch: it is the session's own, if the session has one, and else the one that HEAD is on.
func (r *target) branchOf(g record.Git) name.Ref {
	switch {
	case g.Branch != "" || g.Detached:
		return name.Ref(g.Branch)
	case checkpoint.OwnsBranch(r.To.State):
		return name.Ref(r.To.State.Branch)
	}
	return r.s.Repo.Head.Branch
}

// documentBranch moves HEAD to the branch that the document of the checkpoint names, if HEAD moves at all,
// or else offers that. Its own system restores the branch too. The commit is the document's, or where the
// branch is if that one is not here.
func (r *target) documentBranch(ctx context.Context, def *workflow.Definition, b branchMove, move bool) (branchMove, error) {
	if r.Exact || r.req.Mode == ModeState || checkpoint.OwnsBranch(r.To.State) {
		return b, nil
	}
	facts, err := def.Read(r.goal.State)
	named := name.Ref("refs/heads/" + facts.Branch)
	if err != nil || facts.Branch == "" || named == r.s.Repo.Head.Branch && !move || named == b.Target && move {
		return b, nil //nolint:nilerr // a state that cannot be read names none
	}
	// The name may be anything.
	if _, err := r.s.Repo.Output(ctx, "check-ref-format", string(named)); err != nil {
		return b, nil //nolint:nilerr // there is no such branch
	}
	at, err := r.s.Repo.Refs.Resolve(ctx, named)
	if errors.Is(err, git.ErrMissing) {
		return b, nil
	}
	if err != nil || !move {
		b.warnings = append(b.warnings, fmt.Sprintf("the document of the checkpoint names branch %s; --branch puts HEAD on it", render.Escape(facts.Branch)))
		return b, err
	}
	if hasCommit(ctx, r.s.Repo, name.OID(facts.Commit)) {
		at = name.OID(facts.Commit)
	}
	b.Target, b.To = named, at
	return b, nil
}

// movesBranch reports whether HEAD should move to the recorded commit, by the flags and by the
// session.
func (r *target) movesBranch() bool {
	if r.s.Repo.Checkout.Operation() != "" || r.req.Mode == ModeState {
		return false
	}
	return r.req.Branch == BranchMove || r.req.Branch == BranchDefault && checkpoint.OwnsBranch(r.To.State) && r.req.Mode == ModeAll
}

// movesTo reports whether HEAD should move to where a record says that it was. It cannot if an expunge
// cut that commit out of the checkpoint, because it contains what was expunged.
func (r *target) movesTo(g record.Git) bool {
	return r.movesBranch() && !record.HeadDropped.IsIn(g.Extra)
}

// leaveBehind checks the target branch when HEAD is on another one. The safety checkpoint has
// HEAD's commit as a parent and keeps it reachable, but nothing keeps the commits of the target
// branch. It refuses the move if no other ref has them. It returns the move with where that branch is.
func (b branchMove) leaveBehind(ctx context.Context, repo *git.Repo) (branchMove, error) {
	if b.Target == "" || b.Target == b.Name {
		b.was = b.From
		return b, nil
	}
	was, err := repo.Refs.Resolve(ctx, b.Target)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return b, err
	}
	if b.was = was; was == b.To {
		return b, nil
	}
	b.aside = &checkpoint.BranchBack{Name: b.Target, From: was, To: b.To}
	if was == "" {
		return b, nil
	}
	lost, err := repo.Output(ctx, "rev-list", "--count", string(was), "--not", string(cmp.Or(b.To, b.From)), "--exclude="+string(b.Target), "--all", "--")
	if err != nil {
		return b, err
	}
	if lost != "0" {
		return b, &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: fmt.Sprintf("branch %s is at %s, and nothing else holds its commits after the one of the checkpoint", b.Target.Short(), was.Short()),
			Hints: []string{"`git switch " + b.Target.Short() + "` first, then the safety checkpoint keeps them", "--keep-branch leaves HEAD and branches where they are"},
		}
	}
	b.warnings = append(b.warnings, fmt.Sprintf("branch %s moves, too, from %s; an undo moves it back, unless somebody moves it before", b.Target.Short(), was))
	return b, nil
}

// branchBack lets an undo move a branch back that the rollback moved although HEAD was not on it. The
// branch stays if it has moved since, and if the rollback created it: deleting it could lose
// commits. A warning says why it stays. HEAD moves to the branch head, if not empty.
func (r *target) branchBack(ctx context.Context, head name.Ref) (back *checkpoint.BranchBack, warnings []string, err error) {
	if len(r.levels) == 0 || r.s.Repo.Checkout.Operation() != "" {
		return nil, nil, nil
	}
	was, _ := create.MemberAside.Of(r.record.Git.Extra)
	if !strings.HasPrefix(string(was.Name), "refs/heads/") || string(was.Name) != r.levels[len(r.levels)-1].Head.Branch || was.Name == head {
		return nil, nil, nil
	}
	now, err := r.s.Repo.Refs.Resolve(ctx, was.Name)
	var why string
	switch {
	case err != nil && !errors.Is(err, git.ErrMissing):
		return nil, nil, err
	case now == "", now == was.From: // it is gone, or at its old place already
		return nil, nil, nil
	case was.From == "":
		why = "the rollback made it"
	case now != was.To:
		why = "it has moved since"
	case checkpoint.BranchIsFree(ctx, r.s.Repo, was.Name) != nil:
		why = "another worktree is on it"
	case !hasCommit(ctx, r.s.Repo, was.From):
		why = "the commit it was at no longer exists"
	default:
		return &checkpoint.BranchBack{Name: was.Name, From: now, To: was.From}, nil, nil
	}
	return nil, []string{fmt.Sprintf("branch %s stays where it is: %s", was.Name.Short(), why)}, nil
}

// hasCommit reports whether oid is a commit that can be read. The id comes from a record, so it may
// be anything.
func hasCommit(ctx context.Context, repo *git.Repo, oid name.OID) bool {
	_, err := name.ParseOID(string(oid))
	if err == nil {
		_, err = repo.Commits.Read(ctx, string(oid))
	}
	return err == nil
}

// moveAside moves a branch that HEAD is not on from one commit to another. It fails if the branch
// is not at from. If it is at to already, as after a kill and --continue, it does nothing.
func moveAside(ctx context.Context, repo *git.Repo, branch name.Ref, from, to name.OID) error {
	if refNow(ctx, repo, branch) == to {
		return nil
	}
	_, err := repo.Output(ctx, "update-ref", "-m", "checkpoint: undo of a rollback", string(branch), string(to), string(from))
	return err
}
