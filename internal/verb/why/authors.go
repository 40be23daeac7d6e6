package why

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
)

// author returns who made a path of a checkpoint's own difference.
func (j *journals) author(ctx context.Context, o saved) Claim {
	return j.made.get(o, func() Claim {
		claim := Claim{By: author.Unknown}
		if st, e, rec := j.recordOf(ctx, o.point); rec != nil {
			claim = j.authorIn(ctx, st, e, rec, o.path)
		}
		if o.again && claim.By != author.Unknown {
			claim.By, claim.Because, claim.Agent, claim.Model, claim.Conversation = author.Unknown, "an older file has it, so it may have been brought back", "", "", ""
		}
		claim.worktree = j.x.Checkpoints[o.point].Worktree
		return claim
	})
}

// authorIn is author for a checkpoint with this record.
func (j *journals) authorIn(ctx context.Context, st *journal.State, e *journal.Entry, rec *record.Record, path string) Claim {
	made := author.StepIn(st, e, rec)
	who := made.Who(record.Path(path))
	step, said := author.TurnOf(st, e, func(e *journal.Entry) *record.Record { return j.record(ctx, e) })
	claim := Claim{
		By: who.By, Because: made.Because(record.Path(path)), Session: st.Session, Checkpoint: e.Checkpoint, Since: checkpoint.Time{Time: rec.CreatedAt},
		Of: step.Checkpoint, Entry: e, Message: said.Message, Ref: string(st.Session) + ":" + checkpoint.TypedName(st, step),
		Files: said.Files.Counts[0] + said.Files.Counts[1] + said.Files.Counts[2],
	}
	if who.By == author.Unknown {
		claim.from = who.Session
	}
	if step.Milestone {
		claim.Step = step.Step
	}
	if agent, has := said.Agent(); has && who.By != author.Outside {
		if who.By != author.Unknown {
			claim.Agent, claim.Model, claim.Conversation = agent.Name, agent.Model, agent.Session
		}
		if said.HasPrompt() {
			// The first words of the agent's answer may follow.
			claim.Prompt, _, _ = strings.Cut(said.Message, "\n")
		}
	}
	return claim
}
