package land

// This file makes the messages of the commits from those of the steps.

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/commits"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
)

// numbers names steps by their first and last number.
func numbers(steps []step) string {
	if len(steps) == 0 {
		return ""
	}
	first, last := steps[0].called, steps[len(steps)-1].called
	switch {
	case len(steps) == 1:
		return "step " + first
	case steps[0].entry.Event().StepName != "":
		return "steps " + first + " to " + last
	}
	return "steps " + first + "-" + last
}

// words returns what was said of a step. A promotion is recorded with its own first line, and below it
// what was said of the step that it brought.
func words(r *record.Record) string {
	text := r.Message
	if r.Trigger == workflow.TriggerPromote && strings.HasPrefix(text, "promote ") {
		_, text, _ = strings.Cut(text, "\n\n")
	}
	return strings.TrimSpace(text)
}

// described returns the message of a commit: where the workflow has a commit for each step, the one that the
// create would have given it, else what was said of the step or, where nobody said anything, its name and the
// files.
func (p *Plan) described(ctx context.Context, st step, changes []git.Change) string {
	if def, err := p.s.Rules.DefinitionFor(ctx, p.at.State); err == nil && def.CommitsSteps() && st.record.Milestone {
		return create.StepMessage(p.s.Repo, def, st.record, changes)
	}
	if said := words(st.record); said != "" {
		return said
	}
	files := gather.List(changes, func(c git.Change) record.Path { return record.Path(c.Path) })
	said := checkpoint.MentionOf(&record.Record{Files: record.NewFiles(files, nil, nil)}).Files
	if said = render.Escape(said); st.record.StepName != "" { // names of files may break the subject
		return st.record.StepName + ": " + said
	}
	return said
}

// message adds the trailers to the message of a commit of some steps.
func (p *Plan) message(ctx context.Context, text string, held []step) (string, error) {
	ids := gather.List(held, func(st step) name.ID { return st.entry.Checkpoint })
	said, err := commits.Message(ctx, p.s.Repo, text, ids...)
	return withAssisted(said, p.assisted(held)), err
}

// Messages returns what was said of the steps, oldest first, if the plan is one commit of several steps and
// nobody has given its message.
func (p *Plan) Messages() (all []string) {
	if p.req.Each || p.req.Message != "" {
		return nil
	}
	for _, st := range p.Answer.Commits[0].held {
		if said := words(st.record); said != "" {
			all = append(all, said)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// SetMessage sets the message of the only commit.
func (p *Plan) SetMessage(ctx context.Context, text string) (err error) {
	c := &p.Answer.Commits[0]
	c.draft.Message, err = p.message(ctx, text, c.held)
	c.Subject, _, _ = strings.Cut(c.draft.Message, "\n")
	return err
}
