package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/workflow"
)

// What a workflow says in its own words. The usual words are the program's, which knows
// colours and columns; a definition that has its own for a moment is given the word.

// own reports whether the workflow has words of its own for a moment.
func own(d *workflow.Definition, moment string) bool {
	words, has := d.Messages[moment]
	return has && words != workflow.Default().Messages[moment]
}

// confirmation is how the workflow confirms the checkpoint.
func (c *creation) confirmation() string {
	if !own(c.def, "created") {
		return ""
	}
	said := c.about()
	said["files"], said["commit"] = c.record.Files.Total(), c.written.Commit.Short()
	return c.def.Message("created", said)
}

// triggerOff says that a trigger makes no checkpoint here.
func (c *creation) triggerOff(o workflow.Occasion) string {
	if !own(c.def, "trigger_off") {
		return fmt.Sprintf("trigger %s is off (%s), so no checkpoint was made", o.Name, o.Off)
	}
	said := c.about()
	said["trigger"], said["key"] = o.Name, o.Off
	return c.def.Message("trigger_off", said)
}

// about is what messages may say of a checkpoint.
func (c *creation) about() map[string]any {
	said := map[string]any{"session": string(c.session), "workflow": c.def.Name, "branch": strings.TrimPrefix(string(c.s.repo.Head.Branch), "refs/heads/")}
	if r := c.record; r != nil {
		said["label"], said["id"], said["step"], said["step_name"] = r.Label, string(r.ID), r.Step, r.StepName
		said["topic"], said["status"], said["trigger"] = r.Topic, r.Status, r.Trigger
	}
	return said
}

// failed adds what the workflow says of a checkpoint that could not be made: the lines
// after the one with the error.
func (c *creation) failed(err error) error {
	var known *Error
	if !own(c.def, "create_failed") || !errors.As(err, &known) || !isFailure(known.Kind) {
		return err
	}
	said := c.about()
	said["error"] = "\x00"
	words := c.def.Message("create_failed", said)
	for _, line := range strings.Split(words, "\n") {
		if line != "" && !strings.Contains(line, "\x00") {
			known.Hints = append(known.Hints, line)
		}
	}
	return err
}

// isFailure reports whether there could be a checkpoint, but for something that may be
// put right.
func isFailure(k Kind) bool {
	return k == KindFailed || k == KindRejected || k == KindRefused || k == KindInvalid
}

// said is what the workflow says of a rollback, "" when it leaves that to the program.
func (r *Rollback) said(moment string) string {
	if r.undoes != nil || !own(r.def, moment) {
		return ""
	}
	return r.def.Message(moment, r.about())
}

// failed adds what the workflow says of a rollback that did not succeed.
func (r *Rollback) failed(err error) error {
	var known *Error
	if r.undoes != nil || !own(r.def, "rollback_failed") || !errors.As(err, &known) {
		return err
	}
	said := r.about()
	said["error"], said["state"] = known.Error(), known.Message
	known.Hints = append(strings.Split(r.def.Message("rollback_failed", said), "\n"), known.Hints...)
	return known
}

// about is what messages may say of a rollback.
func (r *Rollback) about() map[string]any {
	a, rec := r.answer, r.goal
	said := map[string]any{
		"session": string(a.Session), "workflow": r.def.Name, "topic": r.to.state.Topic, "reason": r.req.Reason,
		"from": string(a.From), "to": string(a.To), "label": a.ToLabel, "id": string(a.To),
		"step": rec.Step, "step_name": rec.StepName, "status": rec.Status, "trigger": rec.Trigger,
		"reverted": len(a.Plan.Write) + len(a.Plan.Delete) + len(a.Plan.Mode), "discarded": a.Plan.Discard,
		"left_behind": a.Branch.CommitsLeft, "branch": strings.TrimPrefix(string(a.Branch.Name), "refs/heads/"),
	}
	if e := r.to.state.Entry(a.From); e != nil {
		said["from"] = e.Label
	}
	if a.NextStep != nil {
		said["next_step"], said["next_name"] = a.NextStep.Step, a.NextStep.Name
	}
	return said
}
