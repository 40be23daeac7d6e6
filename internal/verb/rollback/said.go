package rollback

// This file adds a workflow's own words to what the program says about a rollback.

import (
	"errors"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
)

// customMessage returns the workflow's own words for a moment of a rollback, or "" if it has none. An undo
// has none, and neither has a restore of some paths.
func (r *Plan) customMessage(moment string, a *Answer) string {
	if r.Exact || r.Part {
		return ""
	}
	return strings.Join(checkpoint.OwnWords(r.def, moment, r.messageValues(a)), "\n")
}

// failed adds the workflow's own words about a failed rollback to the hints of the error.
func (r *Plan) failed(a *Answer, err error) error {
	if err == nil || r.Exact || r.Part {
		return err
	}
	said := r.messageValues(a)
	// error is the whole text, state only what condition the worktree is in.
	said["error"], said["state"] = checkpoint.MessageOf(err), ""
	if known, is := errors.AsType[*checkpoint.Error](err); is {
		said["state"] = known.Message
	}
	return checkpoint.WithHints(err, func(hints []string) []string {
		return append(checkpoint.OwnWords(r.def, "rollback_failed", said), hints...)
	})
}

// messageValues returns the values that a workflow's message may refer to.
func (r *Plan) messageValues(a *Answer) map[string]any {
	rec := r.goal
	said := map[string]any{
		"session": string(a.Session), "workflow": r.def.Name, "topic": r.To.State.Topic, "reason": r.req.Reason,
		"from": string(a.From), "to": string(a.To), "label": a.ToLabel, "id": string(a.To),
		"step": rec.Step, "step_name": rec.StepName, "status": rec.Status, "trigger": rec.Trigger,
		"reverted": len(a.Plan.Write) + len(a.Plan.Delete) + len(a.Plan.Mode), "discarded": a.Plan.Discard,
		"left_behind": a.Branch.CommitsLeft, "branch": a.Branch.Name.Short(),
	}
	if e := r.To.State.Entry(a.From); e != nil {
		said["from"] = e.Label
	}
	if a.NextStep != nil {
		said["next_step"], said["next_name"] = a.NextStep.Step, a.NextStep.Name
	}
	return said
}
