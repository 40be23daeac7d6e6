package checkpoint

import (
	"errors"
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
