package create

// This file remembers the last create that failed, so that the user can retry it without typing
// everything again, and so that its session does not go on without it where the workflow says so.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
)

// Failed is a create that failed. It is kept so that the user can retry it or skip its step.
type Failed struct {
	Time    time.Time    `json:"time"`
	Session name.Session `json:"session"`
	Step    *int         `json:"step"`    // nil: it was no milestone
	Blocks  bool         `json:"blocks"`  // no other milestone may be made before this one
	Problem string       `json:"problem"` // the text of the error
	Request Request      `json:"request"` // with Session and absolute output files filled in
}

// rememberFailure stores the request of a create that failed with its last draft, which may be nil,
// and deletes it after one that resolves it. Its own errors are ignored: they must not make a create fail.
func (c *request) rememberFailure(ctx context.Context, definition definition, draft *draft, err error) {
	s := c.s
	if c.req.DryRun {
		return
	}
	last, _ := LastFailure(s, c.session) //nolint:errcheck // disposable
	if err == nil {
		if last != nil && (!last.Blocks || last.Session == c.session && draft.waits()) {
			ForgetFailure(s, last.Session) //nolint:errcheck // disposable
		}
		return
	}
	if draft.isHeld() || draft != nil && draft.early || !checkpoint.IsFailure(checkpoint.KindOf(err)) {
		return // a retry would fail in the same way, its turn has not come, or nothing was to be made
	}
	failed := Failed{Time: s.Now(), Session: c.session, Problem: err.Error(), Request: c.req}
	failed.Step, failed.Blocks = c.failedStep(ctx, definition, draft)
	if last != nil && last.Session == c.session && last.Blocks && !failed.Blocks {
		return // that one still waits for its answer
	}
	// Fill in what depends on this moment and this directory, so that the retry means the same.
	failed.Request.Session = string(c.session)
	failed.Request.Outputs = slices.Clone(c.req.Outputs)
	for i, o := range failed.Request.Outputs {
		if o.File != "" && !filepath.IsAbs(o.File) { // the retry may run in another directory
			failed.Request.Outputs[i].File = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix), o.File)
		}
	}
	s.Remember(checkpoint.FailedFileOf(c.session), failed)                  //nolint:errcheck // disposable
	s.Remember(checkpoint.FailedFile, map[string]any{"session": c.session}) //nolint:errcheck // disposable
}

// failedStep returns the step that a failed create was for, nil if it was not a milestone, and
// whether the session may not go on without it. A step whose turn has not come has not failed. The
// draft is nil if the create failed before it had a place.
func (c *request) failedStep(ctx context.Context, definition definition, draft *draft) (step *int, blocks bool) {
	def, err := definition()
	if err != nil {
		return nil, false
	}
	if draft == nil {
		draft, _, _ = c.foresee(ctx, def) //nolint:errcheck // it has failed already
	}
	if draft == nil || !draft.spot.Milestone {
		return nil, false
	}
	return &draft.spot.Step, draft.waits() && !draft.early && def.Blocks()
}

// isHeld reports whether a create was refused by hold. The draft may be nil.
func (c *draft) isHeld() bool { return c != nil && c.held }

// waits reports whether this checkpoint has to wait while the session is blocked or paused.
func (c *draft) waits() bool { return c.spot.Milestone && c.def.Waits(c.record.Trigger) }

// hold returns an error if the session is paused, or waits for an answer to a create that failed,
// unless this one is its retry. A checkpoint that only keeps the files is never held.
func (c *draft) hold(v store.View) error {
	if !c.waits() {
		return nil
	}
	if c.def.Blocks() {
		c.early = len(c.def.CheckOrder(c.forRules(v))) > 0
	}
	if v.State != nil && v.State.Status == checkpoint.StatusPaused && !c.endsPause(v.State) {
		return c.holding("*continue or `git checkpoint resume "+string(c.session)+" --accept` continues it", "session %q is paused", c.session)
	}
	failed, err := WaitingFor(c.s, v.State, c.session)
	if failed == nil || c.req.retry {
		return err
	}
	named := c.req.Step != nil || c.req.Name != "" || c.handed() && c.document.Step != nil
	if named && c.spot.Step == *failed.Step {
		return nil
	}
	return c.holding(fmt.Sprintf("*retry-cp or `git checkpoint save --step %d` makes it, *skip-cp goes on without it, *pause stops here", *failed.Step),
		"session %q waits for the checkpoint of step %d, which failed: %s", c.session, *failed.Step, failed.Problem)
}

// endsPause reports whether the checkpoint ends a pause. The first one of a session does, because
// without any there is nothing to resume.
func (c *draft) endsPause(st *journal.State) bool {
	return c.def.Waits(c.record.Trigger) && (c.def.EndsPause() || st.NewestEntry() == nil)
}

// reopen sets a closed session in progress again, or else the retention rules for closed sessions
// would soon prune the new checkpoint. It also ends a pause, if a checkpoint does that.
func (c *draft) reopen(v store.View, change *store.Change) {
	if v.State == nil || c.safety {
		return
	}
	paused := v.State.Status == checkpoint.StatusPaused && c.endsPause(v.State)
	if !paused && !checkpoint.IsClosed(v.State.Status) {
		return
	}
	if !paused {
		c.opened = v.State.Status
	}
	e := c.eventOf(journal.KindStatus)
	e.Status = checkpoint.StatusOpen
	change.Events = append(change.Events, e)
}

// holding returns the error of hold.
func (c *draft) holding(hint, format string, args ...any) error {
	c.held = true
	err := checkpoint.Failure(checkpoint.KindRejected, hint, format, args...)
	err.Hints = append(err.Hints, "`git checkpoint save --trigger "+workflow.TriggerUserInterrupt+"` keeps the files meanwhile")
	return err
}

// Retry makes a checkpoint again whose create failed.
func Retry(ctx context.Context, s *checkpoint.Service, failed *Failed) (*checkpoint.Detail, error) {
	req := failed.Request
	req.retry = true
	return Checkpoint(ctx, s, req)
}

// LastFailure returns the last create that failed in a session, or, if none did, the last one in this
// worktree. It returns nil if there is none. One that blocks nothing is forgotten after a day.
func LastFailure(s *checkpoint.Service, session name.Session) (*Failed, error) {
	failed, err := failureOf(s, session)
	if failed != nil || err != nil {
		return failed, err
	}
	var last struct{ Session name.Session }
	if ok, err := s.Recall(checkpoint.FailedFile, &last); !ok || last.Session == session {
		return nil, err
	}
	if _, err := name.ParseSession(string(last.Session)); err != nil {
		return nil, nil //nolint:nilerr // a damaged file counts as no memory
	}
	return failureOf(s, last.Session)
}

// failureOf returns the last create that failed in a session, nil if there is none.
func failureOf(s *checkpoint.Service, session name.Session) (*Failed, error) {
	const failurePatience = 24 * time.Hour // how long a failed create is remembered that blocks nothing
	var failed Failed
	ok, err := s.Recall(checkpoint.FailedFileOf(session), &failed)
	if age := s.Now().Sub(failed.Time); !ok || !failed.Blocks && (age < 0 || age > failurePatience) {
		return nil, err
	}
	return &failed, nil
}

// WaitingFor returns the failed create that a session waits for an answer to, or nil. st is nil for a session
// that does not exist yet.
func WaitingFor(s *checkpoint.Service, st *journal.State, session name.Session) (*Failed, error) {
	failed, err := failureOf(s, session)
	// It may be of an earlier session of this name.
	if failed == nil || !failed.Blocks || failed.Step == nil || st != nil && failed.Time.Before(st.CreatedAt) {
		return nil, err
	}
	return failed, nil
}

// ForgetFailure forgets the create that failed in a session.
func ForgetFailure(s *checkpoint.Service, session name.Session) error {
	return s.Forget(checkpoint.FailedFileOf(session))
}
