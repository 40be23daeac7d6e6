// Package run runs the command of a step and makes the checkpoint of its result. It
// refuses a step whose checkpoint the workflow would reject before the command has run.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/command"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/rollback"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// FailChoice says what a failed step leaves behind.
type FailChoice int

// The choices.
const (
	FailStop FailChoice = iota
	FailRollback
)

// Request is what `run` was asked for.
type Request struct {
	Create  create.Request // with DryRun nothing is run
	Command []string
	Retries int
	Fix     string        // a shell command that runs before each further try
	Timeout time.Duration // of each try; 0: none
	OnFail  FailChoice
	IO      inspect.IO
	// Tell gets a line for people about each rollback between tries; nil: nobody reads it.
	Tell func(string)
	// Ask is what a person wants after a failure; nil: nobody is there.
	Ask func(failed *Answer) (FailAnswer, error)
}

// FailAnswer is what a person wants after a failure.
type FailAnswer string

// The answers.
const (
	AnswerRetry    FailAnswer = "retry"
	AnswerRollback FailAnswer = "rollback" // to the last good checkpoint
	AnswerBefore   FailAnswer = "before"   // to what was there before the first try
	AnswerStop     FailAnswer = "stop"
)

// Answer is what became of a step.
type Answer struct {
	Session  name.Session         `json:"session"`
	Step     int                  `json:"step"` // as far as it was known before
	StepName string               `json:"step_name"`
	Code     int                  `json:"code"` // exit code of the command; 130, 143 or 124 when it was cut off
	Cut      string               `json:"cut,omitempty"`
	Tries    int                  `json:"tries"`
	Created  *checkpoint.Detail   `json:"created"`            // null without a checkpoint
	LastGood *checkpoint.Labelled `json:"last_good"`          // the newest before the step; null before any
	Before   *checkpoint.Labelled `json:"before,omitempty"`   // made before the first try; not where nothing differs
	Left     []Leftover           `json:"left,omitempty"`     // by the tries that were rolled back
	Restored *rollback.Answer     `json:"restored,omitempty"` // by the last rollback
	Problem  string               `json:"problem,omitempty"`  // why there is no checkpoint

	Number  string `json:"-"` // what a person types for LastGood
	Message string `json:"-"` // what the workflow says of a failure
}

// Leftover is what a failed try left, kept as the safety checkpoint of the rollback that
// followed, and what it was before.
type Leftover struct {
	Try    int     `json:"try"`
	Safety name.ID `json:"safety"`
	Before name.ID `json:"before"`
}

// CannotRunError says that there is no command to run by the name that was given.
type CannotRunError struct {
	Code int // what shells give for it
	Err  error
}

func (e *CannotRunError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *CannotRunError) Unwrap() error { return e.Err }

// running is a step on its way.
type running struct {
	s       *checkpoint.Service
	req     Request
	def     *workflow.Definition // nil: no checkpoint is wanted here
	answer  *Answer
	signals <-chan os.Signal

	state     []byte // as the command got it
	stateFile string

	current *checkpoint.Labelled // as the step began; nil: none
	before  *checkpoint.Labelled // holds what was there before the first try; nil: none does
	unkept  string               // why none does
}

// Do runs a step: what has to come before it is checked, its state handed over, and
// a checkpoint made when it succeeds. With an answer an error is about the checkpoint,
// and the code is to be passed on all the same.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	switch {
	case len(req.Command) == 0:
		return nil, checkpoint.Usage("git checkpoint run [<options>] -- <command>…", "no command to run")
	case req.Retries < 0:
		return nil, checkpoint.Usage("", "--retries takes a number from 0, not %d", req.Retries)
	case req.Timeout < 0:
		return nil, checkpoint.Usage("", "--timeout takes a duration such as 90s or 15m")
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
		return nil, checkpoint.Classify(fmt.Errorf("hand the state over: %w", err))
	}
	defer os.Remove(r.stateFile) //nolint:errcheck // disposable
	signals, stop := command.Watch()
	defer stop()
	r.signals = signals
	return r.answer, r.tries(ctx)
}

// Find refuses a command that cannot be run, with a CannotRunError.
func Find(program string) error {
	if err := command.Find(program); err != nil {
		return &CannotRunError{Code: command.CodeOf(err), Err: err}
	}
	return nil
}

// precheck composes the checkpoint that will be made, as far as that goes before the
// command has run: trigger, state, place, and the order of steps. Where checkpoints or
// the trigger are switched off, the command runs all the same.
func (r *running) precheck(ctx context.Context) error {
	f, err := create.Foresee(ctx, r.s, r.req.Create)
	if err != nil && checkpoint.KindOf(err) == checkpoint.KindNothing {
		r.answer.Problem, r.state = err.Error(), []byte("{}")
		return nil
	}
	if err != nil {
		return err
	}
	r.def, r.state = f.Definition, create.JSONFile(f.Record.State)
	a := r.answer
	a.Session, a.Step, a.StepName = f.Session, f.Record.Step, f.Record.StepName
	if e := f.Current; e != nil {
		r.current = &checkpoint.Labelled{ID: e.Checkpoint, Label: e.Label}
		if good := lastGood(f.State, e); good != nil {
			a.LastGood, a.Number = &checkpoint.Labelled{ID: good.Checkpoint, Label: good.Label}, checkpoint.TypedName(f.State, good)
		}
	}
	return nil
}

// handOver writes the state into a file for the command.
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

// tries runs the command until it succeeds, is cut off, or nobody wants more of it.
func (r *running) tries(ctx context.Context) error {
	a := r.answer
	for left := r.req.Retries; ; left-- {
		a.Tries++
		end, err := r.execute(r.req.Command, r.req.Timeout)
		if err != nil {
			return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "the command could not be started", Err: err}
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

// execute runs a command at this process's terminal.
func (r *running) execute(args []string, timeout time.Duration) (command.End, error) {
	if err := r.s.Repo.Close(); err != nil { // Ctrl+C reaches every process of the terminal
		return command.End{}, err
	}
	a := r.answer
	env := r.s.Env[:len(r.s.Env):len(r.s.Env)]
	if r.s.Env == nil {
		env = os.Environ()
	}
	env = append(env, "GIT_CHECKPOINT_STATE="+r.stateFile)
	if r.def != nil {
		env = append(env, "GIT_CHECKPOINT_SESSION="+string(a.Session), "GIT_CHECKPOINT_STEP="+strconv.Itoa(a.Step))
	}
	defer r.s.Repo.Refresh() // the command may have moved HEAD
	return command.Command{
		Args: args, Dir: filepath.Join(r.s.Repo.WorkTree, filepath.FromSlash(r.s.Repo.Prefix)), Env: env,
		In: r.req.IO.In, Out: r.req.IO.Out, Err: r.req.IO.Err, Timeout: timeout,
	}.Run(r.signals)
}
