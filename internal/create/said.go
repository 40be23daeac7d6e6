package create

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/workflow"
)

// confirmation is how the workflow confirms the checkpoint.
func (c *creation) confirmation() string {
	if !checkpoint.HasMessage(c.def, "created") {
		return ""
	}
	said := c.about()
	said["files"], said["commit"] = c.record.Files.Total(), c.written.Commit.Short()
	return c.def.Message("created", said)
}

// triggerOff says that a trigger makes no checkpoint here.
func (c *creation) triggerOff(o workflow.Occasion) string {
	if !checkpoint.HasMessage(c.def, "trigger_off") {
		return fmt.Sprintf("trigger %s is off (%s), so no checkpoint was made", o.Name, o.Off)
	}
	said := c.about()
	said["trigger"], said["key"] = o.Name, o.Off
	return c.def.Message("trigger_off", said)
}

// about is what messages may say of a checkpoint.
func (c *creation) about() map[string]any {
	said := map[string]any{"session": string(c.session), "workflow": c.def.Name, "branch": strings.TrimPrefix(string(c.s.Repo.Head.Branch), "refs/heads/")}
	if r := c.record; r != nil {
		said["label"], said["id"], said["step"], said["step_name"] = r.Label, string(r.ID), r.Step, r.StepName
		said["topic"], said["status"], said["trigger"] = r.Topic, r.Status, r.Trigger
	}
	return said
}

// failed adds what the workflow says of a checkpoint that could not be made: the lines
// after the one with the error.
func (c *creation) failed(err error) error {
	var known *checkpoint.Error
	if !checkpoint.HasMessage(c.def, "create_failed") || !errors.As(err, &known) || !checkpoint.IsFailure(known.Kind) {
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
