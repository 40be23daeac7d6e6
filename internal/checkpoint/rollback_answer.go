package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// answerPlan fills the answer from the plan.
func (r *Rollback) answerPlan(ctx context.Context) error {
	a := &RollbackAnswer{
		Session: r.to.session, From: r.to.state.Current, DryRun: true, Mode: string(r.req.Mode),
		State: r.goal.State, Pending: json.RawMessage("[]"),
		Plan: PlanFiles{Write: []Path{}, Delete: []Path{}, Mode: []Path{}, Risk: []Risk{}, Discard: []string{}, Skipped: []Path{}},
	}
	r.answer = a
	if r.to.entry != nil {
		a.To, a.ToLabel = r.to.entry.Checkpoint, r.to.entry.Label
	}
	if r.plan != nil {
		a.Plan.Write, a.Plan.Delete, a.Plan.Mode = paths(r.plan.Paths("write")), paths(r.plan.Paths("delete")), paths(r.plan.Paths("mode"))
		a.Plan.Skipped = paths(r.plan.Kept)
		for _, k := range r.plan.Risk {
			a.Plan.Risk = append(a.Plan.Risk, Risk{Path(k.Path), k.Reason})
		}
	}
	r.warnConflicts()
	if err := r.answerSteps(ctx); err != nil {
		return err
	}
	if err := r.planBranch(ctx); err != nil {
		return err
	}
	a.Said = r.said("rollback_plan")
	return nil
}

// paths are names of files as answers give them.
func paths(names []string) []Path {
	out := make([]Path, len(names))
	for i, p := range names {
		out[i] = Path(p)
	}
	return out
}

// warnConflicts says so when conflict stages come back and the operation that made
// them does not.
func (r *Rollback) warnConflicts() {
	g := r.record.Git
	if len(g.Unmerged) == 0 || r.plan == nil || r.plan.Scope.SkipIndex || r.s.repo.Operation() == g.Operation {
		return
	}
	var other name.OID
	if raw, ok := g.Extra["operation_head"]; ok && json.Unmarshal(raw, &other) != nil {
		other = ""
	}
	text := fmt.Sprintf("unmerged paths (%d) come back, but the %s that made them is not in progress any more: a commit now would have one parent", len(g.Unmerged), g.Operation)
	if other != "" {
		text += "; its other commit was " + string(other)
	}
	r.answer.Warnings = append(r.answer.Warnings, text)
}

// lists are the checkpoints that change their state, as of a journal.
func (r *Rollback) lists(st *journal.State) (discard, restore []name.ID, err error) {
	if r.undoes == nil {
		return st.RollbackPlan(r.to.entry.Checkpoint)
	}
	p, err := st.PlanUndoOf(r.undoes)
	return p.Discard, p.Restore, err
}

func (r *Rollback) answerSteps(ctx context.Context) error {
	discard, restore, err := r.lists(r.to.state)
	if err != nil {
		return classify(err)
	}
	for _, id := range discard {
		if e := r.to.state.Entry(id); e != nil {
			label := e.Label
			if w, err := r.s.store.WorktreeID(); err == nil && e.Event().WorktreeID != w {
				label += " (made in worktree " + e.Event().Worktree + ")"
			}
			r.answer.Plan.Discard = append(r.answer.Plan.Discard, label)
		} else {
			r.answer.Plan.Discard = append(r.answer.Plan.Discard, string(id))
		}
	}
	def, err := r.s.reading(ctx, r.to.state)
	if err != nil {
		return err
	}
	r.def = def
	if r.to.entry != nil {
		last := r.to.entry.Step
		if step, ok := def.Next(&last, slices.Collect(maps.Keys(r.to.state.Skipped))); ok {
			r.answer.NextStep = &NextStep{step.Number, step.Name}
		}
	}
	if pending := def.Resume(workflow.ResumeInput{Situation: r.after(discard, restore)}).Pending; len(pending) > 0 {
		if r.answer.Pending, err = json.Marshal(pending); err != nil {
			return classify(err)
		}
	}
	return nil
}

// after is the situation once the move is done.
func (r *Rollback) after(discard, restore []name.ID) workflow.Situation {
	in := r.s.situation(r.to.state, base{record: r.goal})
	st, live := r.to.state, map[int]bool{} // those that change
	for _, id := range discard {
		if e := st.Entry(id); e != nil {
			live[e.Place] = false
		}
	}
	for _, id := range restore {
		if e := st.Entry(id); e != nil {
			live[e.Place] = true
		}
	}
	in.Live, in.Named = steps(st, func(i int, c journal.Standing) bool {
		now, changes := live[i]
		return !c.Dead && (now || !changes && c.Live)
	})
	return in
}

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
	if !b.Moved {
		return nil
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
	if errors.Is(err, git.ErrMissing) || err == nil && was == b.To {
		return nil
	}
	if err != nil {
		return classify(err)
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
	r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("branch %s moves too, from %s; an undo takes HEAD back, and leaves that branch where it is then", short, was))
	return nil
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
