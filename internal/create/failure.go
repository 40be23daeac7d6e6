package create

import (
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// Failed is a checkpoint that could not be made, for a retry or a skip.
type Failed struct {
	Time    time.Time    `json:"time"`
	Session name.Session `json:"session"`
	Step    *int         `json:"step"` // nil: of no step
	Problem string       `json:"problem"`
	Request Request      `json:"request"`
}

// failurePatience is how long a failed create is remembered.
const failurePatience = 24 * time.Hour

// rememberFailure keeps a create that failed, and forgets it after one that did not.
// It is never a reason to fail.
func (c *creation) rememberFailure(err error) {
	s := c.s
	if err == nil && c.req.DryRun {
		return
	}
	if err == nil {
		s.Forget(checkpoint.FailedFile) //nolint:errcheck // disposable
		return
	}
	if !checkpoint.IsFailure(checkpoint.KindOf(err)) || c.req.DryRun || !c.req.At.IsZero() {
		return // it would fail again whatever happens, or was not to be made
	}
	failed := Failed{Time: s.Now(), Session: c.session, Problem: err.Error(), Request: c.req}
	failed.Request.Session = string(c.session)
	failed.Request.Outputs = slices.Clone(c.req.Outputs)
	for i, o := range failed.Request.Outputs {
		if o.File != "" && !filepath.IsAbs(o.File) { // a retry may be typed elsewhere
			failed.Request.Outputs[i].File = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix), o.File)
		}
	}
	if r := c.record; r != nil && c.spot.Milestone {
		failed.Step = &r.Step
	}
	s.Remember(checkpoint.FailedFile, failed) //nolint:errcheck // disposable
}

// LastFailure is the create that failed last; nil when none did within a day.
func LastFailure(s *checkpoint.Service) (*Failed, error) {
	var failed Failed
	ok, err := s.Recall(checkpoint.FailedFile, &failed)
	if age := s.Now().Sub(failed.Time); !ok || age < 0 || age > failurePatience {
		return nil, err
	}
	return &failed, nil
}
