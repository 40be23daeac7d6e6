package create

// This file remembers the last create that failed, so that the user can retry it without typing
// everything again, and so that its session does not go on without it where the workflow says so.

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
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

// failed remembers a create that failed, for a retry, and adds the words that the workflow has about it to the hints: they
// say that it stops, so they are for a failure after which it does. Problems with the memory must not replace the error.
func (r *request) failed(ctx context.Context, definition definition, err error) error {
	s, session := r.s, r.home.session
	def, wrong := definition()
	if wrong != nil {
		err = wrong
	}
	if r.req.DryRun || !checkpoint.IsFailure(checkpoint.KindOf(err)) {
		return err
	}
	failed := Failed{Time: s.Store.Now(), Session: session, Request: r.req}
	if wrong == nil {
		warn := s.Store.Warn
		s.Store.Warn = func(string) {} // it was said already
		d, _ := r.foresee(ctx, def)    //nolint:errcheck // it has failed already
		s.Store.Warn = warn
		if d != nil && (d.held || d.early) && checkpoint.KindOf(err) == checkpoint.KindRejected {
			return err // that is why it failed: a retry would fail in the same way, or its turn has not come
		}
		var made *record.Record
		if d != nil {
			if made = d.record; d.spot.Milestone {
				failed.Step, failed.Blocks = &d.spot.Step, d.waits() && !d.early && def.Blocks()
			}
		}
		if failed.Blocks || !def.Blocks() {
			err = withWords(err, def, messageValues(s.Repo, def, session, made))
		}
	}
	failed.Problem = err.Error()
	last, _ := LastFailure(s.Store, session) //nolint:errcheck // disposable
	if last != nil && last.Session == session && last.Blocks && !failed.Blocks {
		return err // that one still waits for its answer
	}
	// Fill in what depends on this moment and this directory, so that the retry means the same.
	failed.Request.Session = string(session)
	failed.Request.Outputs = gather.List(r.req.Outputs, func(o Output) Output { return o.absolute(s.Repo) })
	checkpoint.Remember(s.Store, checkpoint.FailedFileOf(session), failed)                  //nolint:errcheck // disposable
	checkpoint.Remember(s.Store, checkpoint.FailedFile, map[string]any{"session": session}) //nolint:errcheck // disposable
	return err
}

// absolute returns the output for a retry that may run in another directory.
func (o Output) absolute(repo *git.Repo) Output {
	if o.File != "" && !filepath.IsAbs(o.File) {
		o.File = filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix), o.File)
	}
	return o
}

// resolve forgets the create that failed last, if one that was made now resolves it: one that had to wait for it, or any
// if none had to.
func (r *request) resolve(waits bool) {
	s, session := r.s, r.home.session
	last, _ := LastFailure(s.Store, session) //nolint:errcheck // disposable
	if last != nil && (!last.Blocks || last.Session == session && waits) {
		ForgetFailure(s.Repo, last.Session) //nolint:errcheck // disposable
	}
}

// waits reports whether this checkpoint has to wait while the session is blocked or paused.
func (d *draft) waits() bool { return d.spot.Milestone && d.got.def.Waits(d.record.Trigger) }

// hold returns an error if the session is paused, or waits for an answer to a create that failed,
// unless this one is its retry. A checkpoint that only keeps the files is never held.
func (d *draft) hold() error {
	var held *checkpoint.Error
	in, def, session := d.in, d.got.def, d.in.home.session
	if !d.waits() {
		return nil
	}
	d.early = def.Blocks() && len(def.CheckOrder(d.forRules())) > 0
	if d.st.Status == checkpoint.StatusPaused && !endsPause(def, d.record.Trigger, d.st) {
		held = checkpoint.Failure(checkpoint.KindRejected, "*continue or `git checkpoint resume "+string(session)+" --accept` continues it", "session %q is paused", session)
	} else {
		failed, err := WaitingFor(in.s.Store, d.st, session)
		if failed == nil || in.req.retry {
			return err
		}
		named := in.req.Step != nil || in.req.Name != "" || d.got.document.Step != nil
		if named && d.spot.Step == *failed.Step {
			return nil
		}
		held = checkpoint.Failure(checkpoint.KindRejected, fmt.Sprintf("*retry-cp or `git checkpoint save --step %d` makes it, *skip-cp goes on without it, *pause stops here", *failed.Step),
			"session %q waits for the checkpoint of step %d, which failed: %s", session, *failed.Step, failed.Problem)
	}
	d.held = true
	held.Hints = append(held.Hints, "`git checkpoint save --trigger "+workflow.TriggerUserInterrupt+"` keeps the files meanwhile")
	return held
}

// endsPause reports whether the session is paused and a checkpoint of this trigger ends that. The first one of a session does,
// because without any there is nothing to resume.
func endsPause(def *workflow.Definition, trigger string, st *journal.State) bool {
	return st.Status == checkpoint.StatusPaused && def.Waits(trigger) && (def.EndsPause() || st.NewestEntry() == nil)
}

// Retry makes a checkpoint again whose create failed.
func Retry(ctx context.Context, s *checkpoint.Service, failed *Failed) (*checkpoint.Detail, error) {
	req := failed.Request
	req.retry = true
	return Checkpoint(ctx, s, req)
}

// LastFailure returns the last create that failed in a session, or, if none did, the last one in this
// worktree. It returns nil if there is none. One that blocks nothing is forgotten after a day.
func LastFailure(s *store.Store, session name.Session) (*Failed, error) {
	failed, err := failureOf(s, session)
	if failed != nil || err != nil {
		return failed, err
	}
	var last struct{ Session name.Session }
	if ok, err := checkpoint.Recall(s.Repo, checkpoint.FailedFile, &last); !ok || last.Session == session {
		return nil, err
	}
	if _, err := name.ParseSession(string(last.Session)); err != nil {
		return nil, nil //nolint:nilerr // a damaged file counts as no memory
	}
	return failureOf(s, last.Session)
}

// failureOf returns the last create that failed in a session, nil if there is none.
func failureOf(s *store.Store, session name.Session) (*Failed, error) {
	const failurePatience = 24 * time.Hour // how long a failed create is remembered that blocks nothing
	var failed Failed
	ok, err := checkpoint.Recall(s.Repo, checkpoint.FailedFileOf(session), &failed)
	if age := s.Now().Sub(failed.Time); !ok || !failed.Blocks && (age < 0 || age > failurePatience) {
		return nil, err
	}
	return &failed, nil
}

// WaitingFor returns the failed create that a session waits for an answer to, or nil. st is nil for a session
// that does not exist yet.
func WaitingFor(s *store.Store, st *journal.State, session name.Session) (*Failed, error) {
	failed, err := failureOf(s, session)
	// It may be of an earlier session of this name.
	if failed == nil || !failed.Blocks || failed.Step == nil || st != nil && failed.Time.Before(st.CreatedAt) {
		return nil, err
	}
	return failed, nil
}

// ForgetFailure forgets the create that failed in a session.
func ForgetFailure(repo *git.Repo, session name.Session) error {
	return checkpoint.Forget(repo, checkpoint.FailedFileOf(session))
}
