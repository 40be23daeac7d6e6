package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/verb/create"
)

// What follows when the command of a step has ended: success, failure, or interruption.

// succeeded makes the checkpoint, with the state that the command left. If that fails
// although the command succeeded, the exit code becomes 1.
func (r *running) succeeded(ctx context.Context) error {
	if r.def == nil {
		return nil
	}
	// Ctrl+C went to the command, which handled it.
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	a := r.answer
	a.Message = "" // set by a try before
	request, err := r.withState()
	if err == nil {
		a.Created, err = create.Checkpoint(ctx, r.s, request)
	}
	if err != nil {
		a.Problem = err.Error()
	}
	// Nothing has changed, and that is allowed.
	if checkpoint.KindOf(err) == checkpoint.KindNothing {
		return nil
	}
	if err != nil {
		a.Code = 1
	}
	return err
}

// withState returns the request for the create with the state that the command left. A
// complete document of the workflow becomes the state; anything else counts as an edit of
// the state.
func (r *running) withState() (create.Request, error) {
	const longestState = 256 << 20 // bounds the state file that is read back, in bytes
	create := r.req.Create
	create.Message = cmp.Or(create.Message, r.outcome("exit 0"))
	f, err := os.Open(r.stateFile)
	// The command deleted it: it has no state to pass.
	if errors.Is(err, fs.ErrNotExist) {
		return create, nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, longestState))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return create, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "the state that the command left cannot be read", Err: err}
	}
	if bytes.Equal(data, r.state) {
		return create, nil
	}
	if doc, err := r.def.Accept(data); err == nil && doc.Record != nil {
		create.State = data
		return create, nil
	}
	// The edits of the command line were applied to the state before the command got it.
	return create.Editing(data), nil
}

// cutOff saves what is there after the command was interrupted or timed out. It keeps the
// state from before, because the step is not done.
func (r *running) cutOff(ctx context.Context, end command.End) error {
	a, trigger := r.answer, workflow.TriggerUserInterrupt
	a.Message = a.called() + " was interrupted"
	outcome := "interrupted"
	if end.How == command.TimedOut {
		trigger = workflow.TriggerSessionEnd
		a.Message, outcome = fmt.Sprintf("%s timed out after %s", a.called(), r.req.Timeout), "timed out"
	}
	a.Code, a.Cut = end.Code, trigger
	if r.def == nil {
		return nil
	}
	asked := r.req.Create
	made, err := create.Checkpoint(context.WithoutCancel(ctx), r.s, create.Request{
		Session: string(a.Session), Workflow: r.def.Name, Trigger: trigger, Message: cmp.Or(asked.Message, r.outcome(outcome)),
		Selection: asked.Selection, Pinned: asked.Pinned,
	})
	if err != nil {
		a.Problem = err.Error()
		if checkpoint.KindOf(err) == checkpoint.KindNothing { // the trigger is switched off
			err = nil
		}
		return err
	}
	a.Created = made
	return nil
}

// outcome names a step that was given no message: by the program and how it ended, as in "make test: exit 0".
// Arguments may be secret, so only what tools for building are told to do is named with them.
func (r *running) outcome(how string) string {
	named := filepath.Base(r.req.Command[0])
	tool := slices.Contains([]string{"make", "go", "cargo", "npm", "pnpm", "yarn", "gradle", "mvn", "just", "dotnet", "bazel"}, named)
	if does := append(r.req.Command[1:], "-")[0]; tool && !strings.ContainsAny(does, "-=") {
		named += " " + does
	}
	return clearance.Redacted(r.s.Rules, "message", named) + ": " + how
}

// Interrupted reports whether a signal ended the step.
func (a *Answer) Interrupted() bool { return a.Cut == workflow.TriggerUserInterrupt }

// failed decides what happens after a failure and carries it out: stop, roll back, or try
// again. No checkpoint is made. left is the number of retries left. end is how the fix
// ended, if one was run.
func (r *running) failed(ctx context.Context, left int) (end command.End, again bool, err error) {
	r.describe()
	choice := AnswerStop
	switch {
	case left > 0:
		choice = AnswerRetry
	case r.req.Ask != nil:
		if choice, err = r.req.Ask(r.answer); err != nil {
			return end, false, err
		}
	case r.req.RollBack:
		choice = AnswerBefore
	}
	switch {
	case choice == AnswerRollback:
		err = r.restore(context.WithoutCancel(ctx), r.answer.LastGood)
	case choice == AnswerBefore, choice == AnswerRetry && r.req.RollBack:
		err = r.restore(context.WithoutCancel(ctx), r.before)
	}
	if err != nil {
		return end, false, err
	}
	if choice != AnswerRetry {
		return end, false, nil
	}
	end, err = r.fix(ctx)
	return end, true, err
}

// describe sets the message about the failure, from the workflow if it has one.
func (r *running) describe() {
	a := r.answer
	a.Message = a.failure() + "; no checkpoint was made"
	if r.def == nil || a.LastGood == nil {
		return
	}
	said := map[string]any{
		"step": a.Step, "step_name": a.StepName, "session": string(a.Session), "workflow": r.def.Name,
		"error": fmt.Sprintf("exit code %d", a.Code),
	}
	said["last_valid"], said["label"] = a.LastGood.Label, a.LastGood.Label
	if own := checkpoint.OwnWords(r.def, "step_failed", said); len(own) > 0 {
		a.Message = strings.Join(own, "\n")
	}
}

// called names the step in a message, or the command where it is no step.
func (a *Answer) called() string {
	if a.Session == "" {
		return "the command"
	}
	return strings.TrimSuffix(fmt.Sprintf("step %d %s", a.Step, a.StepName), " ")
}

// failure says how a try failed. A shell gives 128 plus the number of a signal for a command that it ended.
func (a *Answer) failure() string {
	text := fmt.Sprintf("%s failed: exit code %d", a.called(), a.Code)
	const signalled, lastSignal = 128, 64
	if number := a.Code - signalled; number > 0 && number <= lastSignal {
		text += fmt.Sprintf(" (signal %d)", number)
	}
	return text
}

// fix runs the command that may repair the cause. If it fails, the step is tried again anyway.
func (r *running) fix(ctx context.Context) (command.End, error) {
	if r.req.Fix == "" {
		return command.End{}, nil
	}
	end, err := r.execute(ctx, []string{"sh", "-c", r.req.Fix}, r.req.Timeout)
	if err == nil && end.How == command.Exited && end.Code != 0 {
		r.s.Store.Warn(fmt.Sprintf("the fix failed with exit code %d", end.Code))
	}
	return end, err
}

// Skip records in the journal that a step is skipped, which satisfies the check of the next
// step.
func Skip(ctx context.Context, s *checkpoint.Sessions, session string, step int, reason string) error {
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		return err
	}
	if _, err := checkpoint.State(ctx, s.Store, chosen); err != nil {
		return err
	}
	return checkpoint.Append(ctx, s.Store, chosen, journal.KindSkip, func(e *journal.Event) {
		e.Step, e.Reason = step, clearance.Redacted(s.Rules, "reason", reason)
	})
}
