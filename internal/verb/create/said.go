package create

// This file adds a workflow's own words to what the program says about a create.

import (
	"fmt"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
)

// confirmation returns the workflow's own confirmation of the checkpoint, or "" if it has none.
func (c *creation) confirmation() string {
	said := c.about()
	said["files"], said["commit"] = c.record.Files.Total(), c.written.Commit.Short()
	return strings.Join(checkpoint.OwnWords(c.def, "created", said), "\n")
}

// triggerOff returns the message that the trigger is switched off by a key or the workflow, in the
// workflow's words if it has some.
func (c *creation) triggerOff(by string) string {
	said := c.about()
	said["trigger"], said["key"] = c.trigger(), by
	if words := checkpoint.OwnWords(c.def, "trigger_off", said); words != nil {
		return strings.Join(words, "\n")
	}
	return fmt.Sprintf("trigger %s is off (%s), so no checkpoint was made", c.trigger(), by)
}

// about returns the values that a workflow's message may refer to.
func (c *creation) about() map[string]any {
	said := map[string]any{"session": string(c.session), "workflow": c.def.Name, "branch": c.s.Repo.Head.Branch.Short()}
	if r := c.record; r != nil {
		// There is no record if the create failed early.
		said["label"], said["id"], said["step"], said["step_name"] = r.Label, string(r.ID), r.Step, r.StepName
		said["topic"], said["status"], said["trigger"] = r.Topic, r.Status, r.Trigger
	}
	return said
}

// failed adds the workflow's own words about a failed create to the hints of the error. The message
// also contains the error itself; its line is left out, because the error is printed anyway. A NUL
// marks that line.
func (c *creation) failed(err error) error {
	if !checkpoint.IsFailure(checkpoint.KindOf(err)) {
		return err
	}
	said := c.about()
	said["error"] = "\x00"
	return checkpoint.WithHints(err, func(hints []string) []string {
		for _, line := range checkpoint.OwnWords(c.def, "create_failed", said) {
			if line != "" && !strings.Contains(line, "\x00") {
				hints = append(hints, line)
			}
		}
		return hints
	})
}
