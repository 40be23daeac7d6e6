package create

// This file finds the session of a document that does not name one, such as one of orchestrate
// without a checkpoint_id. The members that all documents of a job share decide (session.job), so
// that two jobs never mix in one session. If no session has that job, one is started
// (session.made).

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// findNameless returns the active session if it has the document's job, else the newest session with
// it that is not over, else the one that is made for it.
func (d *foundDocument) findNameless(ctx context.Context, s *checkpoint.Service, active name.Session) (name.Session, error) {
	made := name.SessionFor(d.made)
	states, err := s.States(ctx, "")
	if err != nil {
		return "", err
	}
	var newest *journal.State
	for _, st := range states {
		if st.Workflow != d.def.Name || st.Session != made && checkpoint.IsOver(ctx, s, st) || d.def.OtherJob(d.accepted.State, stateOf(ctx, s, st)) != "" {
			continue
		}
		if st.Session == active {
			return active, nil
		}
		if st.NewestEntry() != nil && (newest == nil || st.UpdatedAt.After(newest.UpdatedAt)) {
			newest = st
		}
	}
	if newest != nil {
		return newest.Session, nil
	}
	return made, nil
}

// stateOf returns the state of the session's current checkpoint, or nil if there is none that can be
// read.
func stateOf(ctx context.Context, s *checkpoint.Service, st *journal.State) []byte {
	if e := st.NewestEntry(); e != nil {
		if rec, err := s.ReadRecord(ctx, e); err == nil {
			return rec.State
		}
	}
	return nil
}
