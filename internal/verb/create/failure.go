package create

// This file remembers the last create that failed, so that the user can retry it without typing
// everything again.

import (
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
)

// Failed is a create that failed. It is kept so that the user can retry it or skip its step.
type Failed struct {
	Time    time.Time    `json:"time"`
	Session name.Session `json:"session"`
	Step    *int         `json:"step"`    // nil: it was no milestone
	Problem string       `json:"problem"` // the text of the error
	Request Request      `json:"request"` // with Session and absolute output files filled in
}

// failurePatience is how long a failed create is remembered.
const failurePatience = 24 * time.Hour

// rememberFailure stores the request of a create that failed with its last draft, which may be nil,
// and deletes it after one that succeeded. Its own errors are ignored: they must not make a create fail.
func (c *request) rememberFailure(last *draft, err error) {
	s := c.s
	if err == nil && c.req.DryRun {
		return
	}
	if err == nil {
		s.Forget(checkpoint.FailedFile) //nolint:errcheck // disposable
		return
	}
	if !checkpoint.IsFailure(checkpoint.KindOf(err)) || c.req.DryRun {
		return // a retry would fail in the same way, or nothing was to be made
	}
	// Fill in what depends on this moment and this directory, so that the retry means the same.
	failed := Failed{Time: s.Now(), Session: c.session, Problem: err.Error(), Request: c.req}
	failed.Request.Session = string(c.session)
	failed.Request.Outputs = slices.Clone(c.req.Outputs)
	for i, o := range failed.Request.Outputs {
		if o.File != "" && !filepath.IsAbs(o.File) { // the retry may run in another directory
			failed.Request.Outputs[i].File = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix), o.File)
		}
	}
	if last != nil && last.spot.Milestone {
		failed.Step = &last.record.Step
	}
	s.Remember(checkpoint.FailedFile, failed) //nolint:errcheck // disposable
}

// LastFailure returns the last create that failed, or nil if none failed within a day.
func LastFailure(s *checkpoint.Service) (*Failed, error) {
	var failed Failed
	ok, err := s.Recall(checkpoint.FailedFile, &failed)
	if age := s.Now().Sub(failed.Time); !ok || age < 0 || age > failurePatience {
		return nil, err
	}
	return &failed, nil
}
