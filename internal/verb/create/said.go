package create

// This file adds a workflow's own words to what the program says about a create.

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
)

// confirmation returns the workflow's own confirmation of the checkpoint, or "" if it has none.
func (c *captured) confirmation(r *record.Record, commit name.OID) string {
	said := messageValues(c.in.s.Repo, c.def, r.Session, r)
	said["files"], said["commit"] = r.Files.Total(), commit.Short()
	if c.landing != nil { // people mean the commit on their branch
		said["commit"] = c.landing.oid.Short()
		return c.def.Message("created", said)
	}
	return strings.Join(checkpoint.OwnWords(c.def, "created", said), "\n")
}

// StepMessage returns the message of the commit of a step in the format of its workflow, for a create and for
// a landing. changes are what the commit changes.
func StepMessage(repo *git.Repo, def *workflow.Definition, r *record.Record, changes []git.Change) string {
	said := messageValues(repo, def, r.Session, r)
	said["files"], said["message"], said["iteration"] = len(changes), workflow.Verbatim(r.Message), r.Iteration
	metrics := MetricsOf(def, r.State)
	var measured []string
	gjson.ParseBytes(metrics).ForEach(func(key, value gjson.Result) bool {
		measured = append(measured, key.String()+": "+value.String())
		return true
	})
	paths := render.First(changes, 100, "and %d more", func(c git.Change) string { return "- " + render.Escape(c.Path) })
	said["metrics"], said["metric"], said["paths"] = strings.Join(measured, ", "), metrics, workflow.Verbatim(strings.Join(paths, "\n"))
	words := def.Message("commit", said)
	for strings.Contains(words, "\n\n\n") { // a part of it is empty
		words = strings.ReplaceAll(words, "\n\n\n", "\n\n")
	}
	return words
}

// triggerOff returns the message that the trigger is switched off by a key or the workflow, in the
// workflow's words if it has some.
func triggerOff(repo *git.Repo, def *workflow.Definition, session name.Session, trigger, by string) string {
	said := messageValues(repo, def, session, nil)
	said["trigger"], said["key"] = trigger, by
	if words := checkpoint.OwnWords(def, "trigger_off", said); words != nil {
		return strings.Join(words, "\n")
	}
	return fmt.Sprintf("trigger %s is off (%s), so no checkpoint was made", trigger, by)
}

// messageValues returns the values that a workflow's message may refer to. The record is nil if the create
// failed early.
func messageValues(repo *git.Repo, def *workflow.Definition, session name.Session, r *record.Record) map[string]any {
	said := map[string]any{"session": string(session), "workflow": def.Name, "branch": repo.Head.Branch.Short()}
	if r != nil {
		said["label"], said["id"], said["step"], said["step_name"] = r.Label, string(r.ID), r.Step, r.StepName
		said["topic"], said["status"], said["trigger"] = r.Topic, r.Status, r.Trigger
	}
	return said
}

// withWords adds the workflow's own words about a failed create to the hints of the error. The message
// also contains the error itself; its line is left out, because the error is printed anyway. A NUL
// marks that line.
func withWords(err error, def *workflow.Definition, said map[string]any) error {
	said["error"] = "\x00"
	return checkpoint.WithHints(err, func(hints []string) []string {
		for _, line := range checkpoint.OwnWords(def, "create_failed", said) {
			if line != "" && !strings.Contains(line, "\x00") {
				hints = append(hints, line)
			}
		}
		return hints
	})
}
