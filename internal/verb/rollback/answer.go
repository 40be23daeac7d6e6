package rollback

// This file works out what the user is shown before a rollback: which files change, which
// checkpoints are discarded, which step comes next and which dangers there are. It changes nothing.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// describe returns the answer for people: what the move does to files and index, and to the levels
// of an undo.
func (r *fileMoves) describe(ctx context.Context) (*Answer, error) {
	was, _ := originOf(r.To.State, r.Adds || r.Part)
	a := &Answer{
		Session: r.To.Session, From: was, DryRun: true, Mode: r.req.Mode,
		State: r.goal.State,
	}
	a.Command, a.Stays, a.Source = string(r.direction), r.Part, r.source()
	if e := r.To.Entry; e != nil {
		a.To, a.ToLabel, a.Target = e.Checkpoint, e.Label, checkpoint.Mention{At: e.Event().Time}
		if r.goal.ID == e.Checkpoint {
			a.Target = checkpoint.MentionOf(r.goal)
		}
		a.Target.Name = checkpoint.NameTo(r.To.State, e)
	}
	if r.plan != nil {
		if err := r.describeFiles(ctx, a); err != nil {
			return nil, err
		}
	}
	a.Levels, a.Meanwhile = r.shownLevels(ctx, r.s.Store)
	a.Warnings = append(a.Warnings, r.otherSession(ctx)...)
	if by := author.Load(r.s.Repo.GitDir).Running(r.s.Store.Now()); by != "" {
		a.Warnings = append(a.Warnings, fmt.Sprintf("a tool of %s is at work here: what it still writes comes after this", by))
	}
	if r.cur != nil && r.cur.TrackedOnly {
		a.Warnings = append(a.Warnings, snapshot.OnlyTracked)
	}
	if r.Says != nil {
		r.Says(a)
	}
	return a, nil
}

// describeFiles describes a plan that is not nil.
func (r *fileMoves) describeFiles(ctx context.Context, a *Answer) (err error) {
	if r.Named {
		a.FilesFrom = &checkpoint.Labelled{ID: r.Files.Checkpoint, Label: r.Files.Label}
	}
	a.Plan = changes(r.plan.Paths)
	a.Plan.Skipped = create.ToPaths(r.plan.Kept)
	for _, k := range r.plan.Risk {
		a.Plan.Risk = append(a.Plan.Risk, Risk{checkpoint.Path(k.Path), k.Reason})
	}
	commanding := agent.CommandingFiles() // the user should know that a rollback changes what tools will execute
	for _, p := range slices.Concat(a.Plan.Write, a.Plan.Delete, a.Plan.Mode) {
		if commanding.Has(string(p)) {
			a.Plan.Risk = append(a.Plan.Risk, Risk{p, "agents and editors run commands from this file"})
		}
	}
	if c := r.plan.Carried; c != nil {
		a.Index = &IndexPlan{Staged: create.ToPaths(c.Staged), Over: create.ToPaths(c.Over), Left: create.ToPaths(c.Left), Stays: c.Stays}
		if c.Stays != "" {
			a.Warnings = append(a.Warnings, "the index stays as it is: "+c.Stays)
		}
	}
	if a.Plan.Unsaved, err = r.unsaved(ctx, a.Plan); err != nil {
		return err
	}
	if a.NotBroughtBack, err = r.leftOut(ctx); err != nil {
		return err
	}
	shot, err := r.s.Worktree()
	if err != nil {
		return err
	}
	if a.Plan.Unignored, err = shot.Unignored(ctx, r.plan); err != nil {
		return err
	}
	if a.Others, err = r.others(ctx, a.Plan); len(a.Others) > 0 {
		a.Keep = "git checkpoint revert --since " + checkpoint.TypedName(r.To.State, r.To.Entry)
	}
	return err
}

// changes returns the paths that a plan or an unfinished rollback changes. of returns those of one
// kind.
func changes(of func(snapshot.OpKind) []string) PlanFiles {
	return PlanFiles{Write: create.ToPaths(of(snapshot.OpWrite)), Delete: create.ToPaths(of(snapshot.OpDelete)), Mode: create.ToPaths(of(snapshot.OpMode))}
}

// changesNothing reports whether files, index, branch and current checkpoint already are as they
// would be afterwards.
func (r *Plan) changesNothing() bool {
	// The checkpoint on top may have another state, even where no file differs.
	if r.Adds || r.conversation != nil {
		return false
	}
	a := r.answer
	files := len(a.Plan.Write) + len(a.Plan.Delete) + len(a.Plan.Mode)
	return files == 0 && len(a.Plan.Discard) == 0 && a.From == a.To && !a.Branch.Moves() && (r.plan == nil || r.indexStays())
}

// indexStays reports whether the plan leaves the index as it is, flags included.
func (r *fileMoves) indexStays() bool {
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

// otherSession warns if the next checkpoint will go to a session other than the one that was rolled
// back. A rollback does not change which session is active.
func (r *target) otherSession(ctx context.Context) []string {
	active, err := r.s.Sessions.NamedSession(ctx, "")
	if err != nil || active == "" || active == r.To.Session || r.Exact || r.Part {
		return nil
	}
	return []string{fmt.Sprintf("session %s stays active and gets the next checkpoint; `git checkpoint session switch %s` changes to the other", active, r.To.Session)}
}

// operationOver warns if an operation of git was in progress then and is not now. MERGE_HEAD, for example,
// is not restored, so a commit now would not become a merge commit. A merge that HEAD has by now is over, unless HEAD moves.
func (r *Plan) operationOver(ctx context.Context) []string {
	g := r.record.Git
	if r.plan == nil || r.Part || g.Operation == "" || r.s.Repo.Checkout.Operation() == g.Operation {
		return nil
	}
	text := fmt.Sprintf("the %s that was in progress then is not now", g.Operation)
	if n := len(g.Unmerged); n > 0 && r.plan.Index != nil {
		text = fmt.Sprintf("unmerged paths (%d) are restored, but %s", n, text)
	}
	other, known := record.OperationHead.Of(g.Extra)
	if g.Operation == "merge" && known && !r.branch.Moved {
		if lacks, err := r.s.Repo.Commits.CountBetween(ctx, r.s.Repo.Head.OID, other); err == nil && lacks == 0 {
			return nil
		}
	}
	says := map[string][2]string{ // without and with the other commit
		"merge":       {": a commit now would have only one parent", fmt.Sprintf("; the other parent was %s: `echo %[1]s >%s` makes it a merge again", other, name.Quoted(filepath.Join(r.s.Repo.GitDir, "MERGE_HEAD")))},
		"cherry-pick": {": a commit now would have your name and a message of yours", fmt.Sprintf("; `git commit -C %s` takes both from what was picked", other)},
		"revert":      {": a commit now would not say what it takes back", fmt.Sprintf(", which was %s", other)},
		"rebase":      {": what it had not applied yet is not applied", fmt.Sprintf("; it was at %s", other)},
		"am":          {": what it had not applied yet is not applied", ""},
	}[g.Operation]
	text += says[0]
	if known {
		text += says[1]
	}
	return []string{text}
}

// moveSession adds to the answer what is discarded, and the next step and the pending work after the move.
func (r *Plan) moveSession(ctx context.Context) (err error) {
	const messagesRead = 12 // of how many checkpoints a person sees the message. Each costs the reading of a record
	a := r.answer
	// Without an id of its own, this worktree cannot tell whose work is discarded.
	own, unknown := r.s.Store.WorktreeID()
	for _, id := range r.discard {
		// The event lists a pruned one, but for users it is gone. An undo of several levels may span sessions.
		if slices.ContainsFunc(r.lists.states, func(st *journal.State) bool { return st.Dead(id) }) {
			continue
		}
		e, label, m := r.lists.entry(id), string(id), checkpoint.Mention{Name: string(id)}
		if e != nil {
			of := e.Event().Session
			if label, m.Name = e.Label, checkpoint.CalledBy(e); len(a.Leaves) < messagesRead {
				m = checkpoint.Mentioned(ctx, r.s.Store, r.lists.states[slices.IndexFunc(r.lists.states, func(st *journal.State) bool { return st.Session == of })], e)
			}
			if e.Milestone && e.Event().Trigger == journal.TriggerTurn {
				a.Prompts++
			}
			if of != r.To.Session {
				label, m.Name = string(of)+":"+label, string(of)+":"+m.Name
			}
			// Discard has labels, and says only where another worktree made it: with several on one session,
			// its work is discarded too.
			m.Note = ""
			if unknown == nil && e.Event().WorktreeID != own {
				m.Note = " (made in worktree " + e.Event().Worktree + ")"
			}
		}
		a.Plan.Discard, a.Leaves = append(a.Plan.Discard, label+m.Note), append(a.Leaves, m)
	}
	// A missing or broken definition must not stop a rollback, so this one falls back to the
	// default.
	if r.def, err = r.s.Rules.ReadableDefinition(ctx, r.To.State); err != nil {
		return err
	}
	if r.To.Entry != nil {
		if step, ok := r.def.Steps.Next(new(r.To.Entry.Step), slices.Collect(maps.Keys(r.To.State.Skipped)), r.To.State.Highest()); ok {
			a.NextStep = &NextStep{step.Number, step.Name}
		}
	}
	a.Pending = json.RawMessage("[]")
	after := r.situationAfter()
	after.Former = checkpoint.Former(ctx, r.s.Store, r.def, r.To.State, r.To.State.Entry(r.goal.ID))
	if pending := r.def.Pending(after); len(pending) > 0 {
		a.Pending, err = json.Marshal(pending)
	}
	return err
}

// situationAfter returns the workflow's view of the session once the move is done: the fold now, with the
// lists applied.
func (r *target) situationAfter() workflow.Situation {
	in := checkpoint.Situation(r.s.Store, r.To.State, r.goal)
	st, live := r.To.State, map[int]bool{} // by position in the journal, only those that change
	for _, id := range r.discard {
		if e := st.Entry(id); e != nil {
			live[e.Place] = false
		}
	}
	for _, id := range r.restore {
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
