package cli

import (
	"context"
	"errors"
	"slices"

	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/rollback"
	"git-checkpoint/internal/term"
)

// yesFlag answers the question before it is asked.
type yesFlag struct {
	Yes bool `short:"y" help:"Do it without asking."`
}

// asked is how a change wants to be carried out.
type asked struct {
	dryRunFlag
	yesFlag
}

// filesFlag is that of commands whose list of files may be long.
type filesFlag struct {
	Files bool `help:"Name every file, however many there are."`
}

// names says how many files the answer names.
func (f filesFlag) names() answer.Files {
	if f.Files {
		return answer.FilesAll
	}
	return answer.FilesByView
}

// outcome makes the answer about a rollback or an undo that was done.
type outcome func(*rollback.Answer) answer.Answer

// carryOut shows the plan, asks, goes ahead and says what was done.
func (a *App) carryOut(ctx context.Context, plan *rollback.Plan, how asked, files filesFlag, done outcome) error {
	planned := answer.Planned{Plan: plan.Answer(), Files: files.names()}
	if how.Yes && !files.Files { // nobody is to judge by it
		planned.Files = answer.FilesFew
	}
	for _, w := range planned.Plan.Warnings {
		a.warn(w)
	}
	if how.DryRun {
		var err error
		if planned.Plan.Digest, err = plan.Fingerprint(); err != nil {
			return err
		}
		return a.give(planned)
	}
	walks := len(planned.Plan.Levels) > 0 // an empty level too is gone over, or nobody gets past it
	switch {
	case planned.Plan.Empty && !walks && !how.Yes:
		return a.give(planned)
	case planned.Plan.Empty && walks && len(planned.Plan.Meanwhile) == 0:
	default:
		if err := a.confirm(ctx, planned, how.yesFlag); err != nil {
			return err
		}
	}
	return a.carriedOut(done, planned.Plan.Warnings...)(plan.Apply(ctx))
}

// carriedOut says what was done; it takes what Apply, Continue and Abort give. The plan
// has told some warnings.
func (a *App) carriedOut(done outcome, told ...string) func(*rollback.Answer, error) error {
	return func(result *rollback.Answer, err error) error {
		if err != nil {
			return err
		}
		for _, w := range result.Warnings {
			if !slices.Contains(told, w) {
				a.warn(w)
			}
		}
		return a.confirmed(done(result))
	}
}

// confirm shows a plan and asks whether to go on. The plan is an answer, so it goes to
// stdout, except where stdout is to get the JSON of what was done. With nobody to ask
// the plan is all there is, and the command is refused.
func (a *App) confirm(ctx context.Context, planned answer.Plan, how yesFlag) error {
	switch {
	case how.Yes && (a.quiet || a.json):
		return nil
	case how.Yes:
		return a.tell(a.Terminal.Out, planned)
	case !a.Terminal.Interactive():
		if err := a.give(planned.Unconfirmed()); err != nil {
			return err
		}
		return refused("not confirmed, nothing was changed", "--yes (-y) goes ahead without asking")
	}
	screen := a.Terminal.Out
	if a.json {
		screen = a.Terminal.Err
	}
	if err := a.tell(screen, planned); err != nil {
		return err
	}
	yes, err := a.Terminal.Confirm(ctx, "Continue?")
	if err == nil && !yes {
		err = refused("not confirmed, nothing was changed")
	}
	return err
}

func unchosen(err error) error {
	if errors.Is(err, term.ErrQuit) {
		return refused("nothing was chosen, nothing was changed")
	}
	return err
}
