package why

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
)

// authors says who made the differences of checkpoints.
type authors struct {
	journals *journals
	made     memo[saved, Claim]
}

// of returns who made a path of a checkpoint's own difference.
func (w *authors) of(ctx context.Context, o saved) Claim {
	return w.made.of(o, func() Claim {
		claim := Claim{By: author.Unknown}
		if st, e := w.journals.entry(ctx, o.point); e != nil {
			if rec := w.journals.record(ctx, e); rec != nil {
				claim = w.in(ctx, st, e, rec, o.path)
			}
		}
		claim.worktree = w.journals.x.Checkpoints[o.point].Worktree
		return claim
	})
}

// in is of for a checkpoint with this record.
func (w *authors) in(ctx context.Context, st *journal.State, e *journal.Entry, rec *record.Record, path string) Claim {
	who := author.In(st, e, rec).Who(record.Path(path))
	step, said := w.stepOf(ctx, st, e, rec)
	claim := Claim{
		By: who.By, Session: st.Session, Checkpoint: e.Checkpoint, Since: checkpoint.Time{Time: rec.CreatedAt},
		Of: step.Checkpoint, Label: e.Label, Message: said.Message, Ref: string(st.Session) + ":" + checkpoint.TypedName(st, step),
		Files: said.Files.Counts[0] + said.Files.Counts[1] + said.Files.Counts[2],
	}
	if step.Milestone {
		claim.Step = step.Step
	}
	if agent, has := said.Agent(); has && who.By != author.Outside {
		claim.Agent, claim.Model = agent.Name, agent.Model
		if said.HasPrompt() {
			// The first words of the agent's answer may follow.
			claim.Prompt, _, _ = strings.Cut(said.Message, "\n")
		}
	}
	return claim
}

// stepOf returns the step that a checkpoint belongs to: for what a tool made, the turn that ends after
// it.
func (w *authors) stepOf(ctx context.Context, st *journal.State, e *journal.Entry, rec *record.Record) (*journal.Entry, *record.Record) {
	if e.Milestone || rec.Trigger != journal.TriggerTool {
		return e, rec
	}
	mine, _ := rec.Agent()
	for i := e.Place + 1; i < st.Len(); i++ {
		if n := st.Standing(i); n.Dead || n.Safety || !n.Milestone {
			continue
		}
		next := st.At(i)
		for before := range st.LineTo(next) {
			if before.Place < e.Place {
				break
			}
			if before.Checkpoint != e.Checkpoint {
				continue
			}
			if turn := w.journals.record(ctx, next); turn != nil {
				if its, has := turn.Agent(); has && its.Session == mine.Session && turn.Trigger == journal.TriggerTurn {
					return next, turn
				}
			}
			return e, rec
		}
	}
	return e, rec
}
