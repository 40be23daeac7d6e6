package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/rollback"
)

// yesFlag is -y, --yes: the question is answered before it is asked.
type yesFlag struct {
	Yes bool `short:"y" brief:"" help:"Do it without asking."`
}

// confirmFlags holds the flags that decide how a change is carried out: only shown, asked about, or done.
type confirmFlags struct {
	dryRunFlag
	yesFlag
}

// filesFlag is for commands whose answer may list many files.
type filesFlag struct {
	Files bool `help:"Name every file, however many there are."`
}

// names says how many files an answer lists: all with --files, else what suits the output.
func (f filesFlag) names() answer.Files {
	if f.Files {
		return answer.FilesAll
	}
	return answer.FilesByView
}

// toShow returns the plan of a rollback as an answer, and prints its warnings. A plan whose digest
// is not the given one is refused; an empty digest accepts any. A client that showed the plan of a
// dry run to a person passes its digest, so that only what was shown is done.
func toShow(ctx context.Context, a *App, plan *rollback.Plan, digest string, how confirmFlags) (answer.Planned, error) {
	shown := answer.Planned{Plan: plan.Answer()}
	if digest != "" {
		if err := plan.Expect(ctx, digest); err != nil {
			return shown, err
		}
	}
	if how.DryRun || a.typed != nil {
		var err error
		if shown.Plan.Digest, err = plan.Digest(); err != nil {
			return shown, err
		}
	}
	if a.typed != nil { // the agent cannot leave its conversation from within
		shown.Plan.ChatOf = ""
	}
	a.warnAll(shown.Plan.Warnings)
	return shown, nil
}

// carryOut is what rollback, undo and redo have in common. It prints the plan, asks, applies the
// plan and prints warnings that the plan did not have. The result is nil if the plan was only shown.
func (a *App) carryOut(ctx context.Context, plan *rollback.Plan, digest string, how confirmFlags, files filesFlag) (*rollback.Answer, error) {
	if !a.json && !a.quiet {
		plan.CountLines(ctx)
	}
	planned, err := toShow(ctx, a, plan, digest, how)
	if err != nil {
		return nil, err
	}
	planned.Files = files.names()
	if how.Yes && !files.Files { // the plan is not shown for a decision, so a short list is enough
		planned.Files = answer.FilesFew
	}
	// An undo that changes no file must still be applied: it moves to the next level, and without
	// that nobody could undo further.
	walks := planned.Plan.Command != ""
	switch {
	case planned.Plan.Empty && !walks && !how.DryRun:
		planned.Plan.DryRun = !how.Yes
		return nil, a.confirmed(planned)
	// Nothing changes and nobody else has worked here meanwhile, so there is nothing to ask.
	case planned.Plan.Empty && walks && len(planned.Plan.Meanwhile) == 0 && !how.DryRun:
	default:
		if how.DryRun {
			return nil, a.give(planned)
		}
		if err := a.confirmOr(ctx, planned, how.yesFlag, a.differences(ctx, plan)); err != nil {
			return nil, err
		}
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range done.Warnings {
		if !slices.Contains(planned.Plan.Warnings, w) {
			a.warn(w)
		}
	}
	return done, nil
}

// differences returns what shows the differences that a plan makes to files. It is nil if there are none.
func (a *App) differences(ctx context.Context, plan *rollback.Plan) func() error {
	if !plan.ChangesFiles() {
		return nil
	}
	return func() error {
		return a.page(ctx, plan.Service().Repo, func(w io.Writer) error {
			if a.json { // stdout is for the answer
				w = a.Terminal.Err
			}
			_, err := plan.PrintDiff(ctx, a.git(w))
			return err
		})
	}
}

// agreed reports whether to carry out a plan: it prints the plan, and asks unless the flags have
// answered. With --dry-run the printed plan is all there is to do.
func (a *App) agreed(ctx context.Context, planned answer.Answer, how confirmFlags) (bool, error) {
	if how.DryRun {
		return false, a.give(planned)
	}
	err := a.confirm(ctx, planned, how.yesFlag)
	return err == nil, err
}

// confirm prints a plan and asks whether to go on; nil means yes. The plan goes to stdout, except
// with --json, where stdout is for the JSON of the result and a person reads the plan on stderr.
// With --yes it prints the plan at most. Without a terminal to ask on it prints the plan and
// refuses (exit code 4).
func (a *App) confirm(ctx context.Context, planned answer.Answer, how yesFlag) error {
	return a.confirmOr(ctx, planned, how, nil)
}

// confirmOr is confirm for a plan whose differences can be shown at the question.
func (a *App) confirmOr(ctx context.Context, planned answer.Answer, how yesFlag, differences func() error) error {
	switch {
	case how.Yes && (a.quiet || a.json || a.typed != nil):
		return nil
	case how.Yes:
		return a.tell(a.Terminal.Out, planned)
	case a.typed != nil:
		a.asks = true
		return cmp.Or(a.give(planned), refused("not confirmed, nothing was changed"))
	// A script or an agent without --yes gets the plan to look at, and the refusal.
	case !a.Terminal.Interactive():
		if plan, ok := planned.(answer.Planned); ok {
			planned = plan.Unconfirmed()
		}
		return cmp.Or(a.give(planned), refused("not confirmed, nothing was changed", "--yes (-y) goes ahead without asking"))
	}
	screen := a.Terminal.Out
	if a.json {
		screen = a.Terminal.Err
	}
	if err := a.tell(screen, planned); err != nil {
		return err
	}
	// Ctrl+C at the question is an error of its own, not a no.
	question := "Continue?"
	if differences != nil {
		question = "(d shows the diff) " + question
	}
	yes, err := a.Terminal.ConfirmOr(ctx, question, differences)
	if err == nil && !yes {
		err = refused("not confirmed, nothing was changed")
	}
	return err
}

// unchosen turns "the person quit the list" into a refusal, which has an exit code of its own.
func unchosen(err error) error {
	if errors.Is(err, term.ErrQuit) {
		return refused("nothing was chosen, nothing was changed")
	}
	return err
}
