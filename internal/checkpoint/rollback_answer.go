package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
	r.warnSession()
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

// warnSession says so when the next checkpoint goes into another session than the one
// whose checkpoint comes back: only resume and switch change which one is active.
func (r *Rollback) warnSession() {
	active, err := r.s.named("")
	if err != nil || active == "" || active == r.to.session || r.undoes != nil {
		return
	}
	r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("session %s stays the active one, and the next checkpoint is its; `git checkpoint session switch %s` goes on in the other", active, r.to.session))
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
	here, unknown := r.s.store.WorktreeID()
	for _, id := range discard {
		if e := r.to.state.Entry(id); e != nil {
			label := e.Label
			if unknown == nil && e.Event().WorktreeID != here {
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
