package transfer

// This part reads a whole session into memory, for the writers of other systems' layouts in
// package interop and for mirrors.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/inspect"
)

// Archive is a session with all its checkpoints, to be written in another system's layout.
type Archive struct {
	Session name.Session
	// For a copy of a built-in workflow the name of the original.
	Workflow    string
	Topic       string
	Branch      string // short name; empty: none
	Status      string // as checkpoint.StatusOf gives it
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ChangedAt   time.Time // like UpdatedAt, but ignores events that only record an import
	Current     name.ID
	Checkpoints []*Archived // in the order of the journal, without dead ones and safety checkpoints
	// Without those that an import derived, and without landings, which bring nothing back.
	Rollbacks []ArchivedReturn
	Events    []inspect.HistoryLine
	Gone      []string          // keys of imported checkpoints that were pruned here, and the ids in their documents
	Touched   bool              // something happened here after the import that the layout should show
	Problems  []string          // Checkpoints that could not be read, with the reason
	Damaged   []*ArchivedDamage // the same checkpoints, as the journal tells them
}

// ArchivedDamage is a checkpoint that could not be read. Key is the one that it was imported under;
// empty: it was not imported.
type ArchivedDamage struct {
	ID         name.ID
	Label, Key string
	Step       int
	At         time.Time
	Place      int
	Live       bool
}

// Archived is one checkpoint with the contents of its record commit.
type Archived struct {
	Record    *record.Record
	Commit    name.OID
	Place     int // in the order of the journal
	Live      bool
	Discarded bool
	Pinned    bool
	Landed    name.ID // current before the landing that made this one; empty: none did
	Before    name.ID // the one before, which no landing made
	Outputs   map[string][]byte
	Import    *ImportSource // nil: it was not imported
	Document  string        // the id in the document that the checkpoint was made from; empty if it has none
}

// ImportSource says where an imported checkpoint came from, with its original files.
type ImportSource struct {
	Format, Key, Path string
	Files             map[string][]byte
	Here              bool // not imported: a create was given the document, and Path is empty
}

// ArchivedReturn is a rollback or an undo. An imported one may have a label only, where the
// checkpoint was never imported.
type ArchivedReturn struct {
	From, To           name.ID
	FromLabel, ToLabel string
	At                 time.Time
	Reason             string
	Imported           bool
}

// ArchiveToWrite reads a session for writing it outside of the repository, and passes it
// through the clearance gate, as what: that is completed here. Only the record commits are scanned,
// since layouts hold no files of the worktree.
func ArchiveToWrite(ctx context.Context, s *checkpoint.Service, session name.Session, what clearance.Sending) (*Archive, error) {
	a, err := ReadArchive(ctx, s.Rules, session)
	if err != nil {
		return nil, err
	}
	// The gate sees the record commit with its message, and not the commit C, whose tree is
	// the worktree.
	what.To, what.Within = "files of another layout", func(path string) bool {
		top, _, _ := strings.Cut(path, "/")
		return top == "checkpoint.json" || top == "outputs" || top == "import"
	}
	for _, c := range a.Checkpoints {
		what.Labels = append(what.Labels, clearance.Holder{Commit: c.Commit, Label: c.Record.Label})
		if m, err := s.Store.RecordCommit(ctx, c.Commit); err == nil {
			what.Tips = append(what.Tips, m)
		}
	}
	return a, clearance.MayLeave(ctx, s, what)
}

// ReadArchive reads a session. Checkpoints that cannot be read are listed in Problems and
// left out.
func ReadArchive(ctx context.Context, s *checkpoint.Rules, session name.Session) (*Archive, error) {
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		return nil, err
	}
	branch, isBranch := strings.CutPrefix(st.Branch, "refs/heads/")
	if !isBranch {
		branch = ""
	}
	a := &Archive{
		Session: session, Workflow: st.Workflow, Topic: checkpoint.TopicOf(ctx, s, st), Branch: branch, Status: checkpoint.StatusOf(ctx, s, st),
		CreatedAt: st.CreatedAt, UpdatedAt: st.UpdatedAt, ChangedAt: changedAt(st), Current: st.Current,
	}
	if d, err := s.DefinitionOf(ctx, session); err == nil && st.Workflow != "" && d.Origin() != "" {
		a.Workflow = d.Origin()
	}
	for _, e := range st.Checkpoints() {
		if e.Dead {
			for _, trailer := range []string{checkpoint.TrailerKey, checkpoint.TrailerDocument} {
				if id := e.Event().Trailer(trailer); id != "" {
					a.Gone = append(a.Gone, id)
				}
			}
			continue
		}
		if e.Safety {
			continue
		}
		c, err := archived(ctx, s.Store, e)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			a.Problems = append(a.Problems, checkpoint.DamagedError(e, err).Error())
			a.Damaged = append(a.Damaged, &ArchivedDamage{
				ID: e.Checkpoint, Label: e.Label, Key: e.Event().Trailer(checkpoint.TrailerKey), Step: e.Step, At: e.Event().Time, Place: e.Place, Live: e.Live,
			})
			continue
		}
		a.Checkpoints = append(a.Checkpoints, &c)
	}
	landings := checkpoint.Landings(st.Events())
	stood := func(id name.ID) name.ID { return cmp.Or(landings[id], id) } // where no landing had been made
	for _, e := range st.Rollbacks {
		if checkpoint.IsReturn(e) {
			a.Rollbacks = append(a.Rollbacks, ArchivedReturn{
				From: stood(e.From), To: stood(e.To), FromLabel: e.FromLabel, ToLabel: e.ToLabel, At: e.Time, Reason: e.Reason,
				Imported: e.Trailer(checkpoint.TrailerFormat) != "",
			})
		}
	}
	for _, c := range a.Checkpoints {
		c.Landed, c.Before = landings[c.Record.ID], stood(c.Record.Previous)
	}
	for _, e := range st.Events() {
		a.Events = append(a.Events, inspect.LineOf(e))
		a.Touched = a.Touched || touches(e)
	}
	return a, nil
}

// touches reports whether an event was made here and would show in another system's layout.
func touches(e *journal.Event) bool {
	switch e.Kind {
	case journal.KindStart, journal.KindImport, journal.KindResume, journal.KindPin, journal.KindUnpin:
		return false
	}
	return e.Trailer(checkpoint.TrailerFormat) == ""
}

// changedAt returns the time of the last event that is more than the record of an import.
func changedAt(st *journal.State) time.Time {
	var at time.Time
	for _, e := range st.Events() {
		if e.Kind != journal.KindImport && e.Trailer(checkpoint.TrailerDerived) == "" && e.Time.After(at) {
			at = e.Time
		}
	}
	return at
}

// archived reads one checkpoint with its outputs and imported files.
func archived(ctx context.Context, s *store.Store, e *journal.Entry) (Archived, error) {
	got, err := checkpoint.ReadStored(ctx, s, e)
	if err != nil {
		return Archived{}, err
	}
	rec, m := got.Record, got.Commit
	c := Archived{
		Record: rec, Commit: e.Event().Commit, Place: e.Place, Live: e.Live, Discarded: e.Discarded, Pinned: e.Pinned, Outputs: map[string][]byte{},
		Document: e.Event().Trailer(checkpoint.TrailerDocument),
	}
	for n := range rec.Outputs {
		if c.Outputs[n], err = s.Output(ctx, m, n); err != nil {
			return c, err
		}
	}
	// A member of this name in another form was written by another program. It is not ours.
	im, ours := checkpoint.ImportedMember.Of(rec.Extra)
	if !ours {
		return c, nil
	}
	c.Import = &ImportSource{Format: im.Format, Key: im.Key, Path: im.Path, Files: map[string][]byte{}, Here: im.Path == ""}
	for n := range im.Files {
		content, err := s.Imported(ctx, m, n)
		if err != nil {
			return c, fmt.Errorf("read what it was imported from: %w", err)
		}
		c.Import.Files[n] = content
	}
	return c, nil
}

// MadeHere reports whether a session has live or discarded checkpoints that were not
// imported.
func MadeHere(ctx context.Context, s *store.Store, session string) (bool, error) {
	st, err := s.State(ctx, name.Session(session))
	if errors.Is(err, store.ErrNoSession) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range st.Checkpoints() {
		if !e.Dead && !e.Safety && e.Event().Trailer(checkpoint.TrailerDigest) == "" {
			return true, nil
		}
	}
	return false, nil
}
