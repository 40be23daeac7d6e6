package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
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

// RunRequest is what `run` was asked for.
type RunRequest struct {
	Create  CreateRequest
	Command []string
	Retries int
	Fix     string // a shell command that runs before each further try
	Timeout time.Duration
	OnFail  FailChoice
	IO      IO
	// Ask is what a person wants after a failure: "retry", "rollback" or "stop".
	// nil: nobody is there.
	Ask func(ctx context.Context, failed *RunAnswer) (string, error)
}

// RunAnswer is what became of a step.
type RunAnswer struct {
	Code     int             `json:"code"` // exit code of the command, 130, 143 or 124
	Tries    int             `json:"tries"`
	Created  *Detail         `json:"created"`   // the checkpoint; null after a failure
	LastGood *Labelled       `json:"last_good"` // where a rollback would go; null before any
	Restored *RollbackAnswer `json:"restored,omitempty"`
	Problem  string          `json:"problem,omitempty"` // why no checkpoint was made
}

// How a command ended.
type ending int

const (
	endedWell ending = iota
	endedBadly
	endedByUser // Ctrl+C or SIGTERM
	endedByTime
)

// Run runs a step: what has to come before it is checked, its state handed over,
// and a checkpoint made when it succeeds.
func (s *Service) Run(ctx context.Context, req RunRequest) (*RunAnswer, error) {
	if len(req.Command) == 0 {
		return nil, usage("git checkpoint run [flags] -- COMMAND", "no command to run")
	}
	if _, err := exec.LookPath(req.Command[0]); err != nil {
		return nil, usage("", "%v", err)
	}
	step, err := s.precheck(ctx, req.Create)
	if err != nil {
		return nil, err
	}
	defer os.Remove(step.stateFile) //nolint:errcheck // disposable
	work := context.WithoutCancel(ctx)
	a := &RunAnswer{LastGood: step.lastGood}
	for left := req.Retries; ; left-- {
		a.Tries++
		var end ending
		if a.Code, end, err = s.execute(req, step); err != nil {
			return nil, err
		}
		switch end {
		case endedWell:
			return a, s.afterSuccess(work, req, step, a)
		case endedByUser:
			s.afterCut(work, req, workflow.TriggerUserInterrupt, a)
			return a, nil
		case endedByTime:
			s.afterCut(work, req, workflow.TriggerSessionEnd, a)
			return a, nil
		}
		again, err := s.afterFailure(ctx, work, req, a, left)
		if err != nil || !again {
			return a, err
		}
	}
}

// runStep is what a command gets to know.
type runStep struct {
	session   name.Session
	step      int
	stateFile string
	state     []byte
	lastGood  *Labelled
}

// precheck composes the checkpoint that will be made, as far as that goes before
// the command has run: trigger, place, and the order of steps.
func (s *Service) precheck(ctx context.Context, req CreateRequest) (*runStep, error) {
	c, err := s.newCreation(ctx, req)
	if err != nil {
		return nil, err
	}
	v := store.View{Session: c.session}
	if st, err := s.store.State(ctx, c.session); err == nil {
		v.State = st
	} else if !errors.Is(err, store.ErrNoSession) {
		return nil, classify(err)
	}
	prev, err := c.previous(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(v, prev); err != nil {
		return nil, err
	}
	if err := c.checkOrder(v); err != nil {
		return nil, err
	}
	r := &runStep{session: c.session, step: c.record.Step, state: c.record.State}
	if prev.entry != nil {
		r.lastGood = &Labelled{prev.entry.Checkpoint, prev.entry.Label}
	}
	dir, err := s.repo.Dir()
	if err != nil {
		return nil, classify(err)
	}
	f, err := os.CreateTemp(dir, "tmp-state-*.json")
	if err != nil {
		return nil, classify(err)
	}
	defer f.Close() //nolint:errcheck // Write reports what matters
	r.stateFile = f.Name()
	_, err = f.Write(r.state)
	return r, classify(err)
}

// execute runs the command with this process's terminal, and passes signals on.
func (s *Service) execute(req RunRequest, step *runStep) (int, ending, error) {
	if err := s.repo.Close(); err != nil { // Ctrl+C reaches every process of the terminal
		return 0, endedBadly, classify(err)
	}
	cmd := exec.Command(req.Command[0], req.Command[1:]...) //nolint:noctx // it is ended by signals, and gets time to
	cmd.Dir = filepath.Join(s.repo.WorkTree, filepath.FromSlash(s.repo.Prefix))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = req.IO.In, req.IO.Out, req.IO.Err
	cmd.Env = append(s.commandEnv(),
		"GIT_CHECKPOINT_SESSION="+string(step.session), "GIT_CHECKPOINT_STEP="+strconv.Itoa(step.step), "GIT_CHECKPOINT_STATE="+step.stateFile)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, endedBadly, &Error{Kind: KindFailed, Message: "the command could not be started", Err: err}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return s.await(cmd, done, signals, req.Timeout)
}

// commandEnv is the user's environment, less what git set for this process only.
func (s *Service) commandEnv() []string {
	if s.env == nil {
		return os.Environ()
	}
	return append([]string(nil), s.env...)
}

// grace is how long a command may take to end after it was told to.
const grace = 5 * time.Second

func (s *Service) await(cmd *exec.Cmd, done <-chan error, signals <-chan os.Signal, timeout time.Duration) (int, ending, error) {
	var over, kill <-chan time.Time
	if timeout > 0 {
		over = time.After(timeout)
	}
	end, code := endedBadly, 0
	stop := func(sig os.Signal) {
		cmd.Process.Signal(sig) //nolint:errcheck // it may have ended
		if kill == nil {
			kill = time.After(grace)
		}
	}
	for {
		select {
		case err := <-done:
			if end != endedBadly {
				return code, end, nil
			}
			if err == nil {
				return 0, endedWell, nil
			}
			return exitCode(err), endedBadly, nil
		case sig := <-signals:
			end, code = endedByUser, 130
			if sig == syscall.SIGTERM {
				code = 143
			}
			stop(sig)
		case <-over:
			end, code, over = endedByTime, 124, nil
			stop(syscall.SIGTERM)
		case <-kill:
			cmd.Process.Kill() //nolint:errcheck // it may have ended
		}
	}
}

// exitCode is the command's own, or 128 and the signal that ended it, as shells
// say it.
func exitCode(err error) int {
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return 1
	}
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return e.ExitCode()
}

// afterSuccess makes the checkpoint, with the state that the command left.
func (s *Service) afterSuccess(ctx context.Context, req RunRequest, step *runStep, a *RunAnswer) error {
	create := req.Create
	data, err := os.ReadFile(step.stateFile)
	if err != nil {
		return &Error{Kind: KindFailed, Message: "the state that the command left cannot be read", Err: err}
	}
	if string(data) != string(step.state) {
		create.State = data
	}
	s.repo.Refresh()
	if a.Created, err = s.Create(ctx, create); err != nil {
		a.Code, a.Problem = 1, err.Error()
		return err
	}
	return nil
}

// afterCut keeps what was there when the command was interrupted or ran out of
// time.
func (s *Service) afterCut(ctx context.Context, req RunRequest, trigger string, a *RunAnswer) {
	create := req.Create
	create.Trigger, create.Step, create.Name, create.Iteration, create.State = trigger, nil, "", "", nil
	s.repo.Refresh()
	made, err := s.Create(ctx, create)
	if err != nil {
		s.warn(fmt.Sprintf("no %s checkpoint: %v", trigger, err))
		a.Problem = err.Error()
		return
	}
	a.Created = made
}

// afterFailure decides whether the step is tried again. No checkpoint is made.
func (s *Service) afterFailure(ctx, work context.Context, req RunRequest, a *RunAnswer, left int) (again bool, err error) {
	choice := "stop"
	switch {
	case left > 0:
		choice = "retry"
	case req.OnFail == FailRollback:
		choice = "rollback"
	case req.Ask != nil:
		if choice, err = req.Ask(ctx, a); err != nil {
			return false, err
		}
	}
	restore := choice == "rollback" || choice == "retry" && req.OnFail == FailRollback
	if restore && a.LastGood != nil {
		if err := s.restoreLast(work, a); err != nil {
			return false, err
		}
	}
	if choice != "retry" {
		return false, nil
	}
	if req.Fix != "" {
		fix := exec.CommandContext(ctx, "sh", "-c", req.Fix)
		fix.Dir = filepath.Join(s.repo.WorkTree, filepath.FromSlash(s.repo.Prefix))
		fix.Stdin, fix.Stdout, fix.Stderr, fix.Env = req.IO.In, req.IO.Out, req.IO.Err, s.commandEnv()
		if err := fix.Run(); err != nil {
			s.warn("the fix failed: " + err.Error())
		}
	}
	return true, nil
}

func (s *Service) restoreLast(ctx context.Context, a *RunAnswer) error {
	s.repo.Refresh()
	r, err := s.PlanRollback(ctx, RollbackRequest{Ref: string(a.LastGood.ID), Reason: fmt.Sprintf("step failed with exit code %d", a.Code)})
	if err != nil {
		return err
	}
	a.Restored, err = r.Apply(ctx)
	return err
}

// Skip journals that a step is done without; the next step's check is content.
func (s *Service) Skip(ctx context.Context, session string, step int, reason string) error {
	chosen, err := s.chooseSession(ctx, session)
	if err != nil {
		return err
	}
	if _, err := s.state(ctx, chosen); err != nil {
		return err
	}
	e, err := s.event(journal.KindSkip, chosen)
	if err != nil {
		return classify(err)
	}
	e.Step, e.Reason = step, reason
	return s.append(ctx, chosen, e)
}
