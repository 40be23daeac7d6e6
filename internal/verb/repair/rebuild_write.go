package repair

// This file collects the repairs of one session and writes them. take and mend decide, write
// carries out: it puts refs back, then one transaction writes events, notes, tags and new
// checkpoints.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// repairs collects what one transaction on a session will repair.
type repairs struct {
	*rebuilding
	refs    []git.Update    // refs of checkpoints to put back
	adopted []proof.Verdict // checkpoints that no event names
	notes   []store.NewNote
	retag   bool                  // the tags have to be made again
	create  []store.NewCheckpoint // checkpoints made beside broken ones
	verify  []name.OID            // their objects
	stood   []journal.Event       // their events
	about   []journal.Event       // the rebuild event that only reports repairs
	unsure  []Rewritten           // to be asked about before they are adopted
}

// damaged returns which objects are missing or garbled. It reads them in batches.
func damaged(ctx context.Context, repo *git.Repo, oids []name.OID) (map[name.OID]bool, error) {
	bad := map[name.OID]bool{}
	for some := range slices.Chunk(oids, 1024) {
		err := repo.Objects.Batch().Prove(ctx, name.All[string](some), 0, func(i int, _ git.Object, err error) error {
			if err != nil {
				bad[some[i]] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// planRepair decides what to do about one checkpoint and adds it to the repairs.
func (w *repairs) planRepair(ctx context.Context, v proof.Verdict) error {
	// The whole notes tree is written again. The note of a checkpoint that is lost as well is taken
	// out, because the part of the tree that cannot be read would stay if nothing in it changed.
	notes := w.p.Notes
	if blob := v.Parts.Tree.At("checkpoint.json").OID; len(notes.Findings) > 0 && v.Commit() != "" && (blob != "" || notes.NoteOf(v.Commit()) == "") {
		w.notes = append(w.notes, store.NewNote{Commit: v.Commit(), RecordBlob: blob})
	}
	if v.Entry == nil {
		return w.adopt(v)
	}
	if w.takeRewritten(ctx, &v) {
		return nil
	}
	if err := w.rescue(ctx, v); err != nil {
		return err
	}
	if w.req.Migrate && v.Record != nil && v.Record.Format < record.Format && v.Sound {
		_, err := w.restoreRecord(ctx, v, w.line(v.ID, v.Label))
		return err
	}
	if len(v.Findings) == 0 {
		return nil
	}
	// A lost record comes first: the other repairs need the record.
	l := w.line(v.ID, v.Label)
	if w.lostRecord(v) {
		if again, err := w.restoreRecord(ctx, v, l); !again || err != nil {
			return err
		}
		// If it cannot be judged again, what was found before is mended.
		w.p.Judge(ctx, proof.Given(v.Subject), nil, func(got proof.Verdict) error { v = got; return nil }) //nolint:errcheck // see above
	}
	w.mend(ctx, v, l)
	return nil
}

// report prepares one event for all that was made again. If the notes ref was lost, that is of every
// checkpoint, and an event for each would flood the journal.
func (w *repairs) report() error {
	const most = 10 // how many checkpoints the event names
	if w.p.State == nil || w.p.State.Len() == 0 {
		return nil
	}
	// An event must name a checkpoint, even if it is about the journal: the current one, or else the last.
	last := cmp.Or(w.p.State.NewestEntry(), w.p.State.At(w.p.State.Len()-1))
	about, told := Rebuilt{}, []string(nil)
	for _, id := range w.order {
		what := w.lines[id].sayRemade()
		if what == "" {
			continue
		}
		if about.Checkpoint == "" {
			about = *w.lines[id]
		} else {
			what = "of " + w.lines[id].Label + ": " + what
		}
		told = append(told, what)
	}
	if len(told) == 0 {
		return nil
	}
	if more := len(told) - most; more > 0 {
		told = append(told[:most], fmt.Sprintf("of %d more", more))
	}
	e, err := checkpoint.NewEvent(w.s.Store, journal.KindRebuild, w.session)
	e.Checkpoint, e.Label, e.Reason = cmp.Or(about.Checkpoint, last.Checkpoint), cmp.Or(about.Label, last.Label), strings.Join(told, "; ")
	w.about = []journal.Event{e}
	return err
}

// sayRemade says which parts were made again: by the first words of the kinds. What was adopted or replaced
// has an event of its own.
func (l *Rebuilt) sayRemade() string {
	var parts []string
	for _, m := range l.Mended {
		if part, _, _ := strings.Cut(string(m.Kind), "_"); l.Rebuilt == "" && part != "event" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if l.Checkpoint == "" && len(l.Missing) > 0 {
		parts = []string{"journal, without " + strings.Join(l.Missing, ", ")}
	}
	return strings.Join(parts, ", ")
}

// mend adds the repairs of derived data to the transaction.
func (w *repairs) mend(ctx context.Context, v proof.Verdict, l *Rebuilt) {
	for _, f := range v.Findings {
		switch f.Kind {
		case proof.NoteMissing, proof.NoteEdited, proof.NoteSwapped, proof.NoteTwice, proof.NoteUnreadable:
			w.notes = append(w.notes, store.NewNote{Commit: v.Commit(), RecordBlob: v.Parts.Tree.At("checkpoint.json").OID})
			l.mended(f, "its note was written again")
		case proof.TagMoved:
			w.retag = true
			done := "put back"
			if w.s.Store.Tagless || isPrivate(ctx, w.s.Store, v.Entry.Event().Commit) {
				done = "deleted"
			}
			l.mended(f, "%s was %s", strings.TrimPrefix(f.Object, "refs/tags/"), done)
		// A ref is set only to a commit that is sound, never to a damaged one.
		case proof.RefMissing, proof.RefForeign, proof.RefID, proof.RefMoved:
			// Two records under one id are a conflict. A person has to compare them.
			if !v.Sound || f.Kind == proof.RefMoved && !v.Whole() && w.mapped[v.Entry.Event().Commit] != v.Ref {
				continue
			}
			back := git.Update{Ref: name.CheckpointRef(w.session, v.ID), New: v.Entry.Event().Commit, Old: v.Ref}
			if w.p.Archived[v.ID] { // the archive holds it, so it has no ref of its own to replace
				back.Old = ""
			}
			w.refs = append(w.refs, back)
			if f.Kind == proof.RefMissing {
				l.mended(f, "its ref was made again, as the journal names it")
			} else {
				l.mended(f, "its ref is back at %s, as the journal names it; it was at %s", back.New.Short(), v.Ref)
			}
		}
	}
}

// isPrivate reports whether a checkpoint must have no tag.
func isPrivate(ctx context.Context, s *store.Store, commit name.OID) bool {
	if s.Private == nil {
		return false
	}
	why, err := s.Private(ctx, commit)
	return why != "" || err != nil
}

// adopt adds a checkpoint that no event names to the journal, if nothing else is wrong with it.
func (w *repairs) adopt(v proof.Verdict) error {
	// Do not write to a journal that cannot be folded.
	if v.Record == nil || w.p.Chain != nil && w.p.State == nil {
		return nil
	}
	for _, f := range v.Findings {
		switch f.Kind {
		case proof.EventMissing, proof.NoteMissing, proof.NoteEdited, proof.NoteSwapped, proof.NoteTwice, proof.NoteUnreadable:
		// Anything else is damage. The line says that it could not be adopted.
		default:
			w.line(v.ID, v.Label)
			return nil
		}
	}
	w.adopted = append(w.adopted, v)
	w.line(v.ID, v.Label).mended(checkpoint.Finding{Kind: proof.EventMissing, Object: string(name.CheckpointRef(w.session, v.ID))}, "it was adopted into the journal")
	return nil
}

// write carries the repairs out: refs first, then one transaction with the rest.
func (w *repairs) write(ctx context.Context) error {
	if err := w.report(); err != nil {
		return err
	}
	for _, f := range w.p.Findings {
		if f.Kind == proof.TagMoved && w.only == "" {
			w.retag = true
			w.line("", "").mended(f, "%s was taken away or put back", strings.TrimPrefix(f.Object, "refs/tags/"))
		}
	}
	// Tags are freed before the transaction, which then makes them again.
	if w.retag {
		if err := w.freeTags(ctx); err != nil {
			return err
		}
	}
	if len(w.refs) > 0 {
		if err := w.s.Repo.Refs.Update(ctx, w.refs); err != nil {
			return fmt.Errorf("put refs back: %w", err)
		}
	}
	// The order of adoption decides the order of the checkpoints in the fold.
	slices.SortStableFunc(w.adopted, func(a, b proof.Verdict) int { return a.Record.CreatedAt.Compare(b.Record.CreatedAt) })
	var missing map[name.Ref]*journal.Entry
	if !w.s.Store.Tagless {
		missing = missingTags(w.p.State, w.p.Refs, w.p.Tags)
	}
	if len(w.adopted)+len(w.notes)+len(w.stood)+len(w.about)+len(missing) == 0 && !w.retag {
		return nil
	}
	w.retag = w.retag || len(missing) > 0
	if len(w.notes) > 0 {
		for _, f := range w.p.Notes.Findings {
			w.line("", "").mended(f, "what cannot be read of the notes was left out; checkpoints have their notes again")
		}
	}
	res, err := checkpoint.Transact(ctx, w.s.Store, w.session, w.build)
	for _, t := range res.Tags {
		if e := missing[t.Ref]; e != nil {
			f := checkpoint.Finding{Kind: "tag_missing", Object: string(t.Ref)}
			w.line(e.Checkpoint, e.Label).mended(f, "%s was made again", strings.TrimPrefix(f.Object, "refs/tags/"))
		}
	}
	return err
}

// lostNotes returns the directories of the notes tree that cannot be read.
func (w *repairs) lostNotes() (lost []name.OID) {
	for _, f := range w.p.Notes.Findings {
		if oid, err := name.ParseOID(f.Object); err == nil {
			lost = append(lost, oid)
		}
	}
	return lost
}

// freeTags deletes tags that were moved to something that is not a checkpoint of the session. The
// transaction leaves tags alone that it does not know, and makes the missing ones again. A tag
// object was made by a user and stays.
func (w *repairs) freeTags(ctx context.Context) error {
	own := gather.Set(w.p.State.Checkpoints(), func(e *journal.Entry) name.OID { return e.Event().Commit })
	var moved []git.Update
	var specs []string
	for _, tag := range w.p.Tags {
		if !own[tag.OID] {
			moved, specs = append(moved, git.Update{Ref: tag.Ref, Old: tag.OID}), append(specs, string(tag.OID))
		}
	}
	var free []git.Update
	// Only tags that point directly to a commit were made by this program.
	err := w.s.Repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err != nil || o.Type == "commit" {
			free = append(free, moved[i])
		}
		return nil
	})
	if err != nil || len(free) == 0 {
		return err
	}
	return w.s.Repo.Refs.Update(ctx, free)
}

// build returns the change for the journal as it is now.
func (w *repairs) build(_ context.Context, v store.View) (store.Change, error) {
	change := store.Change{Notes: w.notes, LostNotes: w.lostNotes(), Create: w.create, Verify: w.verify, Retag: w.retag, Anew: true}
	// Without a journal the session starts again, with what the oldest record says about it.
	if v.State == nil {
		start, err := checkpoint.NewEvent(w.s.Store, journal.KindStart, w.session)
		if err != nil {
			return change, err
		}
		start.Reason = "the journal was lost"
		if len(w.adopted) > 0 {
			start.Workflow, start.Topic = w.adopted[0].Record.Workflow.Name, w.adopted[0].Record.Topic
		}
		change.Events = append(change.Events, start)
	}
	for _, a := range w.adopted {
		if v.State != nil && (v.State.Entry(a.ID) != nil || v.State.Dead(a.ID)) {
			continue // another writer has adopted or pruned it in the meantime
		}
		e, err := checkpoint.NewEvent(w.s.Store, journal.KindAdopt, w.session)
		if err != nil {
			return change, err
		}
		checkpoint.NameIn(&e, a.Record, a.Ref)
		change.Events = append(change.Events, e)
		change.Notes = append(change.Notes, store.NewNote{Commit: a.Ref, RecordBlob: a.Parts.Tree.At("checkpoint.json").OID})
	}
	change.Events = slices.Concat(change.Events, w.stood, w.about)
	return change, nil
}
