// Package run runs the command of a step and makes a checkpoint of the result.
//
// Do is the entry point. It composes the checkpoint in advance (precheck), so that a step
// that the workflow would reject fails before a long command has run. It saves what is
// there (before.go), gives the state to the command in a file, runs it with retries, and
// then makes the checkpoint or handles the failure (end.go).
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// Request holds the options of `run`.
type Request struct {
	Create  create.Request // its DryRun runs nothing
	Command []string
	Retries int           // how many further tries there are after the first
	Fix     string        // a shell command that runs before each retry
	Timeout time.Duration // for each try; 0: none
	// RollBack rolls the files back after a failure; else they stay as the command left them.
	RollBack bool
	IO       inspect.IO
	Tell     func(string)                             // prints a line about each rollback between tries; nil: nobody reads it
	Ask      func(failed *Answer) (FailAnswer, error) // asks a person what to do after a failure; nil: nobody is there
}

// FailAnswer is what a person wants after a failure.
type FailAnswer string

// The answers of a person.
const (
	AnswerRetry    FailAnswer = "retry"
	AnswerRollback FailAnswer = "rollback" // to the last good checkpoint
	// To what was there before the first try.
	AnswerBefore FailAnswer = "before"
	AnswerStop   FailAnswer = "stop"
)

// Answer is the result of a step.
type Answer struct {
	Session  name.Session `json:"session"`
	Step     int          `json:"step"` // as far as it was known in advance
	StepName string       `json:"step_name"`
	// Exit code of the command; 130, 143 or 124 if it was interrupted or timed out, 126 or
	// 127 if it could not be started.
	Code int `json:"code"`
	// Cut is the trigger of the checkpoint after an interruption; empty: the command ended
	// by itself.
	Cut      string               `json:"cut,omitempty"`
	Tries    int                  `json:"tries"`
	Created  *checkpoint.Detail   `json:"created"`            // null: no checkpoint was made
	LastGood *checkpoint.Labelled `json:"last_good"`          // newest good checkpoint before the step; null: none
	Before   *checkpoint.Labelled `json:"before,omitempty"`   // made before the first try; null if nothing differed
	Left     []Leftover           `json:"left,omitempty"`     // what tries left that were rolled back
	Restored *rollback.Answer     `json:"restored,omitempty"` // result of the last rollback
	Problem  string               `json:"problem,omitempty"`  // why no checkpoint was made

	Number string `json:"-"` // what a person types for LastGood
	// Has what was there before the first try; nil: LastGood has it, or none does.
	Start   *checkpoint.Labelled `json:"-"`
	Message string               `json:"-"` // what the workflow says about a failure
}

// Leftover is what a failed try left, in the safety checkpoint of the rollback that
// followed. Before is the checkpoint to which that rollback went.
type Leftover struct {
	Try    int     `json:"try"`
	Safety name.ID `json:"safety"`
	Before name.ID `json:"before"`
	See    string  `json:"-"` // the command that shows it, if the journal can be read
}

// CannotRunError means that the command does not exist or cannot be executed.
type CannotRunError struct {
	// The exit code that shells use for this.
	Code int
	Err  error
}

func (e *CannotRunError) Error() string { return e.Err.Error() }

func (e *CannotRunError) Unwrap() error { return e.Err }

// running is a step in progress.
type running struct {
	s       *checkpoint.Service
	req     Request
	def     *workflow.Definition // nil: no checkpoint will be made
	answer  *Answer
	signals <-chan os.Signal // delivers SIGINT and SIGTERM while the command runs

	state     []byte // the state as the command got it
	stateFile string // the file in which the command gets the state and may leave a new one

	current *checkpoint.Labelled // current checkpoint when the step began; nil: none
	before  *checkpoint.Labelled // holds what was there before the first try; nil: none does
	unkept  string               // why none does
}

// Do runs a step: it checks what the workflow requires, runs the command with its state, and makes
// a checkpoint on success. If there is an answer, an error concerns the checkpoint only, and the
// command's exit code still applies.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	switch {
	case len(req.Command) == 0:
		return nil, checkpoint.Usage("git checkpoint run [<options>] -- <command>…", "no command to run")
	case req.Retries < 0:
		return nil, checkpoint.Usage("", "--retries must be a number of 0 or more, not %d", req.Retries)
	case req.Timeout < 0:
		return nil, checkpoint.Usage("", "--timeout needs a duration such as 90s or 15m")
	}
	if err := Find(req.Command[0]); err != nil {
		return nil, err
	}
	r := &running{s: s, req: req, answer: &Answer{}}
	if err := r.precheck(ctx); err != nil {
		return nil, err
	}
	if req.Create.DryRun {
		return r.answer, nil
	}
	if err := r.keepBefore(ctx); err != nil {
		return nil, err
	}
	if err := r.handOver(); err != nil {
		return nil, fmt.Errorf("hand over the state: %w", err)
	}
	defer os.Remove(r.stateFile) //nolint:errcheck // disposable
	signals, stop := command.Watch()
	defer stop()
	r.signals = signals
	return r.answer, r.tries(ctx)
}

// Find returns a CannotRunError if the program does not exist or cannot be executed.
func Find(program string) error {
	if err := command.Find(program); err != nil {
		return &CannotRunError{Code: command.CodeOf(err), Err: err}
	}
	return nil
}

// precheck composes the checkpoint that the step will make, as far as that is possible in
// advance: trigger, state, place and the order of steps. If checkpoints or the trigger are
// switched off, the command runs without a checkpoint.
func (r *running) precheck(ctx context.Context) error {
	f, err := create.Foresee(ctx, r.s, r.req.Create)
	if err != nil && checkpoint.KindOf(err) == checkpoint.KindNothing {
		r.answer.Problem, r.state = err.Error(), []byte("{}")
		return nil
	}
	if err == nil && f.Held != nil {
		// The step of this number has to wait. A command that names none runs: what it leaves when it is
		// interrupted is kept in any session.
		if asked := r.req.Create; asked.DryRun || asked.Step != nil || asked.Name != "" || len(asked.State) > 0 {
			err = f.Held
		} else {
			r.s.Store.Warn(checkpoint.MessageOf(f.Held) + "; until then the command's result is in no checkpoint")
		}
	}
	if err != nil {
		return err
	}
	r.def, r.state = f.Definition, create.JSONFile(f.Record.State)
	a := r.answer
	a.Session, a.Step, a.StepName = f.Session, f.Record.Step, f.Record.StepName
	if e := f.Current; e != nil {
		r.current = new(checkpoint.LabelledOf(ctx, r.s.Store, f.State, e))
		if good := lastGood(f.State, e); good != nil {
			a.LastGood = new(checkpoint.LabelledOf(ctx, r.s.Store, f.State, good))
			a.Number = checkpoint.TypedName(f.State, good)
		}
	}
	return nil
}

// handOver writes the state to a file for the command.
func (r *running) handOver() error {
	dir, err := r.s.Repo.Dir()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, store.TempPrefix+"state-*.json")
	if err != nil {
		return err
	}
	r.stateFile = f.Name()
	_, err = f.Write(r.state)
	return errors.Join(err, f.Close())
}

// tries runs the command until it succeeds, is interrupted, or no retry is wanted.
func (r *running) tries(ctx context.Context) error {
	a := r.answer
	for left := r.req.Retries; ; left-- {
		a.Tries++
		end, err := r.execute(ctx, r.req.Command, r.req.Timeout)
		if err != nil {
			a.Code = max(end.Code, 1)
			return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: a.called() + " could not be started", Err: err}
		}
		a.Code = end.Code
		if end.How != command.Exited {
			return r.cutOff(ctx, end)
		}
		if end.Code == 0 {
			return r.succeeded(ctx)
		}
		end, again, err := r.failed(ctx, left)
		switch {
		case err != nil:
			return err
		case end.How != command.Exited:
			return r.cutOff(ctx, end)
		case !again:
			return nil
		}
	}
}

// execute runs a command with this process's terminal.
func (r *running) execute(ctx context.Context, args []string, timeout time.Duration) (command.End, error) {
	// Ctrl+C would end git's helper processes as well, so close them first.
	r.s.Repo.Close()
	a := r.answer
	env := r.s.Env[:len(r.s.Env):len(r.s.Env)]
	if r.s.Env == nil {
		env = os.Environ()
	}
	env = append(env, "GIT_CHECKPOINT_STATE="+r.stateFile)
	if r.def != nil {
		env = append(env, "GIT_CHECKPOINT_SESSION="+string(a.Session), "GIT_CHECKPOINT_STEP="+strconv.Itoa(a.Step))
	}
	defer r.s.Repo.Checkout.Refresh(ctx) // the command may have moved HEAD
	return command.Command{
		Args: args, Dir: filepath.Join(r.s.Repo.WorkTree, filepath.FromSlash(r.s.Repo.Prefix)), Env: env,
		In: r.req.IO.In, Out: r.req.IO.Out, Err: r.req.IO.Err, Timeout: timeout,
	}.Run(r.signals)
}
