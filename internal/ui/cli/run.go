package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/run"
)

// RunCmd is "git checkpoint run": it runs a command as a step of the job and makes a checkpoint
// when the command succeeds. Package run does the work; here are the flags, the questions to a
// person when a try has failed, and the report at the end.
type RunCmd struct {
	Command []string      `arg:"" optional:"" command:"" complete:"none" help:"Command to run, with its arguments; it begins at the first word that is not an option, or after --."`
	Retries int           `placeholder:"<n>" help:"Try up to this many more times if the command fails."`
	Fix     string        `placeholder:"<command>" help:"Shell command to run before each further try."`
	Timeout time.Duration `placeholder:"<duration>" help:"End the command if it runs longer than this: 90s, 15m."`
	OnFail  string        `enum:"stop,rollback" default:"stop" placeholder:"<what>" help:"What to do if it fails: stop (default), or rollback to what was there before the first try."`
	createFlags
}

// Run runs the command and reports. Its exit code is that of the command.
func (c *RunCmd) Run(ctx context.Context, app *App) error {
	create, err := c.request(ctx, app)
	if err != nil {
		return err
	}
	request := run.Request{
		Create: create, Command: c.Command, Retries: c.Retries, Fix: c.Fix, Timeout: c.Timeout, RollBack: c.OnFail == "rollback",
		IO: inspect.IO{In: app.Terminal.In, Out: app.Terminal.Out, Err: app.Terminal.Err},
	}
	// While the command runs, warnings about its tries are printed at once.
	if !app.json { // with --json the answer contains these lines
		request.Tell = app.warn
	}
	asked := false
	if app.Terminal.Interactive() && !app.json {
		request.Ask = func(failed *run.Answer) (run.FailAnswer, error) {
			asked = true
			return askAfterFailure(ctx, app, failed)
		}
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		app.sayWorkers(ctx, s.Sessions)
		amount := app.measuring(ctx, s, &request.Create)
		done, err := run.Do(ctx, s, request)
		if done == nil {
			return cannotRun(app, err)
		}
		if done.Created != nil {
			done.Created.Amount = amount()
		}
		return app.ran(done, err, asked)
	})
}

// cannotRun reports that a command is missing or not executable and exits as a shell does, with 127
// or 126. Other errors stay as they are.
func cannotRun(a *App, err error) error {
	if cannot := (*run.CannotRunError)(nil); errors.As(err, &cannot) {
		a.report(checkpoint.KindFailed, err)
		return exitCode(cannot.Code)
	}
	return err
}

// ran reports what became of a step: warnings, the answer, and the error or failed try on stderr.
// done and err may both be set, because an error about the checkpoint comes with what the command
// did. The exit code is that of the command, whatever else went wrong.
func (a *App) ran(done *run.Answer, err error, asked bool) error {
	if done.Created != nil {
		a.warnAll(done.Created.Warnings)
	}
	if said := a.confirmed(answer.Ran{Step: done}); said != nil {
		return said
	}
	switch {
	// Problem says why no checkpoint was made. Without it the error is about something else, such
	// as the way back after a failed try.
	case err != nil && done.Problem == err.Error():
		a.report(checkpoint.KindOf(err), notCreated(err))
	case err != nil:
		a.report(checkpoint.KindOf(err), err)
	case done.Message != "" && !asked:
		a.reportFailed(done)
	}
	for _, left := range done.Left {
		if left.See != "" && !a.json && !a.quiet {
			text := fmt.Sprintf("`git checkpoint %s` shows what try %d left", left.See, left.Try)
			if err := a.view.Line(a.Terminal.Err, render.Span{Role: render.Hint, Text: "hint: "}, render.Span{Text: text}); err != nil {
				return err
			}
		}
	}
	if done.Code != 0 {
		return exitCode(done.Code)
	}
	return nil
}

// reportFailed prints why a step failed, with hints how to get back to the last good checkpoint and
// to the files before the first try.
func (a *App) reportFailed(done *run.Answer) {
	failed := &checkpoint.Error{Kind: checkpoint.KindFailed, Message: done.Message}
	if done.Interrupted() {
		failed.Kind = checkpoint.KindInterrupt
	}
	switch {
	case done.Restored != nil: // the other lines tell the way back, which has been taken
		failed.Message, _, _ = strings.Cut(done.Message, "\n")
	case done.LastGood != nil:
		failed.Hints = []string{"`git checkpoint rollback " + done.Number + "` goes back to " + done.LastGood.Mention.String() + ", the last good checkpoint"}
	}
	if done.Start != nil && done.Restored == nil {
		failed.Hints = append(failed.Hints, "`git checkpoint rollback "+done.Start.Mention.Name+"` goes back to what was there before the first try")
	}
	a.report(failed.Kind, failed)
}

// askAfterFailure asks a person what to do about a failed try: again, back, or stop. A Ctrl+C here
// means stop. ctx may be cancelled already by a Ctrl+C that was meant for the command, so a new
// context listens for the next one.
func askAfterFailure(ctx context.Context, a *App, failed *run.Answer) (run.FailAnswer, error) {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	a.reportFailed(failed)
	choices := []term.Choice{{Letter: 'r', Text: "retry"}}
	if failed.Start != nil {
		choices = append(choices, term.Choice{Letter: 'w', Text: "go back to what was there before the first try"})
	}
	if failed.LastGood != nil {
		choices = append(choices, term.Choice{Letter: 'b', Text: "go back to " + render.Escape(failed.LastGood.Mention.String()) + ", the last good checkpoint"})
	}
	choices = append(choices, term.Choice{Letter: 's', Text: "stop"})
	letter, err := a.Terminal.Ask(ctx, "What now?", choices)
	switch {
	case errors.Is(err, term.ErrQuit), errors.Is(err, context.Canceled):
		return run.AnswerStop, nil
	case err != nil:
		return run.AnswerStop, err
	}
	return map[rune]run.FailAnswer{'r': run.AnswerRetry, 'w': run.AnswerBefore, 'b': run.AnswerRollback, 's': run.AnswerStop}[letter], nil
}
