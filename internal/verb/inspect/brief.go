package inspect

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// Look says whether an answer looks at the files of the worktree.
type Look int

// The values of Look.
const (
	LookAtFiles Look = iota
	LookAway
)

// BriefAnswer is the answer of `status --porcelain`: what a shell prompt shows.
type BriefAnswer struct {
	Session name.Session
	Number  string // as a person types it: 3, 6.2 or 3+1
	Label   string
	Look    Look
	Changed int      // files that differ from the current checkpoint, if they were looked at and ChangedUnknown is not set
	Marks   []string // as docs/json.md lists them, in that order

	ChangedUnknown bool
}

// Brief answers `status --porcelain`. Without a current checkpoint it is an error of KindNotFound. With
// LookAway it reads no record, only the journal.
func Brief(ctx context.Context, s *checkpoint.Service, look Look) (*BriefAnswer, error) {
	st, err := checkpoint.ChosenState(ctx, s.Sessions, "")
	if err != nil {
		return nil, err
	}
	e := st.CurrentEntry()
	if e == nil {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "session %q has no checkpoints", st.Session)
	}
	a := &BriefAnswer{Session: st.Session, Number: numberOf(st, e), Label: e.Label, Look: look}
	if look == LookAtFiles {
		if err := a.count(ctx, s, st, e); err != nil {
			return nil, err
		}
	}
	if a.Changed > 0 {
		a.Marks = append(a.Marks, "changed")
	}
	unfinished, err := UnfinishedRollback(s.Repo)
	if unfinished != nil || err != nil { // an intent file that cannot be read also belongs to a rollback
		a.Marks = append(a.Marks, "unfinished")
	}
	if checkpoint.IsClosed(st.Status) || st.Status == checkpoint.StatusPaused {
		a.Marks = append(a.Marks, st.Status)
	}
	return a, nil
}

// count fills in how many files changed.
func (a *BriefAnswer) count(ctx context.Context, s *checkpoint.Service, st *journal.State, e *journal.Entry) error {
	rec, err := checkpoint.ReadRecord(ctx, s.Store, e)
	if err != nil {
		return s.Rules.CorruptError(ctx, st, e, err)
	}
	if rec.Snapshot.Tree == "" { // it was imported without files
		a.ChangedUnknown = true
		return nil
	}
	var full StatusAnswer
	err = changedSince(ctx, s, rec, &full)
	a.Changed, a.ChangedUnknown = len(full.Changed), full.ChangedUnknown
	return err
}

// numberOf returns what a person types for a current checkpoint.
func numberOf(st *journal.State, e *journal.Entry) string {
	if e.Milestone {
		return checkpoint.TypedName(st, e)
	}
	return record.Number(e.Step, e.Milestone, "", e.Label)
}
