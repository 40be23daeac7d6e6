package rollback

// This file works out what the user is shown before a rollback: which files change, which
// checkpoints are discarded, which step comes next and which dangers there are. It changes nothing.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// answerPlan fills r.answer from the plan, and plans what happens to the branch.
func (r *Plan) answerPlan(ctx context.Context) error {
	a := &Answer{
		Session: r.to.Session, From: r.to.State.Current, DryRun: true, Mode: r.req.Mode,
		State: r.goal.State, Pending: json.RawMessage("[]"),
	}
	r.answer = a
	if r.promote != nil {
		a.Promotes = &r.promote.What
	}
	if r.to.Entry != nil {
		a.To, a.ToLabel = r.to.Entry.Checkpoint, r.to.Entry.Label
	}
	if r.plan != nil {
		if !r.isUndo() && r.files.Safety {
			a.FilesFrom = &checkpoint.Labelled{ID: r.files.Checkpoint, Label: r.files.Label}
		}
		a.Plan = changes(r.plan.Paths)
		a.Plan.Skipped = create.ToPaths(r.plan.Kept)
		for _, k := range r.plan.Risk {
			a.Plan.Risk = append(a.Plan.Risk, Risk{checkpoint.Path(k.Path), k.Reason})
		}
		a.Plan.Risk = append(a.Plan.Risk, commandFiles(a.Plan)...)
		answerIndex(r)
		if err := answerUnsaved(ctx, r); err != nil {
			return err
		}
		if err := answerLeftOut(ctx, r); err != nil {
			return err
		}
		if err := answerUnignored(ctx, r); err != nil {
			return err
		}
	}
	r.answerLevels()
	r.warnConflicts()
	r.warnSession()
	if err := r.answerSteps(ctx); err != nil {
		return err
	}
	if err := r.planBranch(ctx); err != nil {
		return err
	}
	if r.plan != nil && r.promote == nil && !r.filesStay && !a.Branch.Moved {
		a.Elsewhere = checkpoint.Elsewhere(r.s, r.record)
	}
	a.Said, a.Empty = r.said("rollback_plan"), changesNothing(r)
	return nil
}

// changes returns the paths that a plan or an unfinished rollback changes. of returns those of one
// kind.
func changes(of func(snapshot.OpKind) []string) PlanFiles {
	return PlanFiles{Write: create.ToPaths(of(snapshot.OpWrite)), Delete: create.ToPaths(of(snapshot.OpDelete)), Mode: create.ToPaths(of(snapshot.OpMode))}
}

// commandFiles returns the files of a plan that agents or editors run commands from. The user
// should know that a rollback changes what these tools will execute.
func commandFiles(plan PlanFiles) (found []Risk) {
	for _, p := range slices.Concat(plan.Write, plan.Delete, plan.Mode) {
		if agent.RunsCommands(string(p)) {
			found = append(found, Risk{p, "agents and editors run commands from this file"})
		}
	}
	return found
}

// changesNothing reports whether files, index, branch and current checkpoint already are as they
// would be afterwards.
func changesNothing(r *Plan) bool {
	// A promotion makes a checkpoint with the state of the attempt, even where no file differs.
	if r.promote != nil {
		return false
	}
	a := r.answer
	files := len(a.Plan.Write) + len(a.Plan.Delete) + len(a.Plan.Mode)
	return files == 0 && len(a.Plan.Discard) == 0 && a.From == a.To && !a.Branch.Moves() && (r.plan == nil || indexStays(r))
}

// indexStays reports whether the plan leaves the index as it is, flags included.
func indexStays(r *Plan) bool {
	before, after := r.cur.Index, r.plan.Index
	if r.plan.IndexTree != "" && r.plan.IndexTree != before.Tree {
		return false
	}
	if after == nil {
		return true
	}
	flags := *after
	flags.Tree = before.Tree // compared above
	return sameIndex(before, flags)
}

// warnSession warns if the next checkpoint will go to another session than the one that was rolled
// back. A rollback does not change which session is active.
func (r *Plan) warnSession() {
	active, err := r.s.NamedSession("")
	if err != nil || active == "" || active == r.to.Session || r.isUndo() {
		return
	}
	r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("session %s stays active and gets the next checkpoint; `git checkpoint session switch %s` changes to the other", active, r.to.Session))
}

// warnConflicts warns if unmerged index entries are restored without the merge they belong to.
// MERGE_HEAD is not restored, so a commit now would not become a merge commit.
func (r *Plan) warnConflicts() {
	// Nothing to warn about if the same operation is still in progress, or if the index stays as it
	// is.
	g := r.record.Git
	if len(g.Unmerged) == 0 || r.plan == nil || r.plan.Scope.SkipIndex || r.plan.Index == nil || r.s.Repo.Operation() == g.Operation {
		return
	}
	text := fmt.Sprintf("unmerged paths (%d) are restored, but the %s that made them is no longer in progress: a commit now would have only one parent", len(g.Unmerged), g.Operation)
	if other, _ := record.OperationHead.Of(g.Extra); other != "" {
		text += "; the other parent was " + string(other)
	}
	r.answer.Warnings = append(r.answer.Warnings, text)
}

// lists returns the checkpoints that become discarded and those that become live again.
func (r *Plan) lists() (discard, restore []name.ID, err error) {
	switch {
	case r.promote != nil: // a promotion leaves the session where it is
	case r.isUndo():
		for _, in := range bySession(r.levels) {
			plans := make([]journal.Plan, len(in))
			for i, at := range in {
				plans[i] = r.plans[at]
			}
			d, b := netLists(r.levels[in[0]].State, plans)
			discard, restore = append(discard, d...), append(restore, b...)
		}
	case r.files.Safety:
		_, discard, restore, err = r.to.State.SafetyPlan(r.files.Checkpoint)
	default:
		discard, restore, err = r.to.State.RollbackPlan(r.to.Entry.Checkpoint)
	}
	return discard, restore, err
}

// isDead reports whether a checkpoint was pruned, in any session: an undo of several levels may
// span sessions.
func isDead(r *Plan, id name.ID) bool {
	if r.walk != nil && slices.ContainsFunc(r.walk.states, func(st *journal.State) bool { return st.Dead(id) }) {
		return true
	}
	return r.to.State.Dead(id)
}

// answerSteps fills in the discarded checkpoints, the next step and the pending work after the
// move.
func (r *Plan) answerSteps(ctx context.Context) error {
	discard, restore, err := r.lists()
	if err != nil {
		return err
	}
	// Without an id of its own, this worktree cannot tell whose work is discarded.
	here, unknown := r.s.Store.WorktreeID()
	entry := r.to.State.Entry
	if r.isUndo() {
		entry = r.walk.entry // with several levels it may be another session's
	}
	for _, id := range discard {
		if isDead(r, id) { // the event lists it, but for users it is gone
			continue
		}
		label := string(id)
		if e := entry(id); e != nil {
			label = e.Label
			// An undo of several levels may discard checkpoints of other sessions, too.
			if of := e.Event().Session; of != r.to.Session {
				label = string(of) + ":" + label
			}
			// With several worktrees on one session, warn that another worktree's work is discarded
			// too.
			if unknown == nil && e.Event().WorktreeID != here {
				label += " (made in worktree " + e.Event().Worktree + ")"
			}
		}
		r.answer.Plan.Discard = append(r.answer.Plan.Discard, label)
	}
	// A missing or broken definition must not stop a rollback, so this one falls back to the
	// default.
	def, err := r.s.ReadableDefinition(ctx, r.to.State)
	if err != nil {
		return err
	}
	r.def = def
	if r.to.Entry != nil {
		last := r.to.Entry.Step
		if step, ok := def.Steps.Next(&last, slices.Collect(maps.Keys(r.to.State.Skipped))); ok {
			r.answer.NextStep = &NextStep{step.Number, step.Name}
		}
	}
	if pending := def.Pending(r.after(discard, restore)); len(pending) > 0 {
		if r.answer.Pending, err = json.Marshal(pending); err != nil {
			return err
		}
	}
	return nil
}

// after returns the workflow's view of the session once the move is done: the fold now, with the
// lists applied.
func (r *Plan) after(discard, restore []name.ID) workflow.Situation {
	in := r.s.Situation(r.to.State, r.goal)
	st, live := r.to.State, map[int]bool{} // by position in the journal, only those that change
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
	in.Live, in.Named = checkpoint.FinishedSteps(st, func(i int, c journal.Standing) bool {
		now, changes := live[i]
		return !c.Dead && (now || !changes && c.Live)
	})
	return in
}
