package transfer

// This part turns a plan into objects and events. Ids, previous checkpoints and events have
// an order, so they are made one after the other. The objects of different checkpoints are
// independent, and are written in parallel between the two.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// labelPattern is the grammar of labels in docs/format.md. A layout's label outside of it
// is replaced.
var labelPattern = lazy.Pattern(`^cp-[0-9]{2,9}[A-Za-z0-9._+-]{0,120}$`)

// compose makes the record of a document, except for the id and what depends on objects. If
// the workflow accepts the document, its state, status and trigger come from there; else
// the document as a whole becomes the state.
func (im *importing) compose(v store.View, d *ImportDocument) *record.Record {
	r := &record.Record{
		Format: record.Format, Session: im.session, Message: d.Message, CreatedAt: d.At.UTC().Truncate(time.Millisecond),
		Trigger: d.Trigger, Topic: im.in.Topic, Workflow: record.Workflow{Name: im.def.Name, Version: im.def.Version},
		Outputs: map[string]record.Output{}, State: d.JSON,
	}
	accepted, err := im.def.Accept(d.JSON)
	if err == nil {
		r.State, r.Error = accepted.State, accepted.Error
		r.Status, r.Trigger = accepted.Status, cmp.Or(r.Trigger, accepted.Trigger)
	}
	r.Status = cmp.Or(r.Status, im.def.Statuses.Initial, checkpoint.StatusOpen)
	r.Trigger = cmp.Or(r.Trigger, "phase_transition")
	im.number(v, r, d, accepted)
	im.composePlace(r, d)
	return r
}

// number sets step, name, iteration, milestone and label: from the layout if it has them,
// else where the workflow puts the document, else after the last step.
func (im *importing) number(v store.View, r *record.Record, d *ImportDocument, a workflow.Accepted) {
	// The layout does not say where the document belongs, so ask the workflow as a create
	// would.
	if d.Step != nil && d.Label != "" {
		r.Step, r.StepName, r.Iteration, r.Milestone = *d.Step, d.StepName, d.Iteration, !d.Hangs
	} else {
		req := workflow.PlaceRequest{Trigger: r.Trigger, State: r.State, Document: &a.Facts, Iteration: d.Iteration}
		im.importMap.addTo(v.State, &req)
		p, err := im.def.Place(req)
		// The document has a trigger or step that the workflow does not know.
		if err != nil {
			p = workflow.Place{Name: d.StepName}
			// An unknown step keeps its number. It is a milestone if that step has none
			// yet.
			if d.Step != nil {
				p.Step = *d.Step
				there, _ := req.Milestones(p.Step)
				p.Milestone = len(there) == 0 && !d.Hangs
			} else if req.Last != nil {
				p.Step = *req.Last
			}
		}
		r.Step, r.StepName, r.Iteration, r.Milestone = p.Step, p.Name, p.Iteration, p.Milestone
	}
	// A record accepts iterations in the form of slugs only.
	if r.Iteration != "" {
		r.Iteration = name.Slug(r.Iteration)
	}
	switch {
	case labelPattern().MatchString(d.Label):
		r.Label = d.Label
	case r.Milestone:
		r.Label = name.Label(r.Step, r.StepName, r.Iteration)
	default:
		r.Label = fmt.Sprintf("%s+%d", name.Label(r.Step, r.StepName, ""), im.importMap.hanging(r.Step)+1)
	}
}

// hanging counts the live checkpoints of a step that are not its milestones.
func (l *importMap) hanging(step int) int {
	return gather.Count(l.entries, func(e importEntry) bool { return e.live && !e.milestone && e.step == step })
}

// composePlace fills in branch, commit and files. If the commit that the document names is
// here, its tree becomes the files of the checkpoint. Otherwise the record has only the
// document's own lists, and says that no files were captured.
func (im *importing) composePlace(r *record.Record, d *ImportDocument) {
	r.Git.Worktree = record.Path(checkpoint.WorktreeName(im.s.Repo))
	r.Git.Branch = record.Path(im.links.branchOf(d.Branch, im.in.Branch))
	// The branch is not here, so it cannot be recorded as a ref. Its name is kept as an
	// extra member.
	if named := cmp.Or(d.Branch, im.in.Branch); r.Git.Branch == "" && named != "" && isPlainBranch(named) {
		record.DocumentBranch.Set(&r.Git.Extra, named)
	}
	if commit := im.links.commits[d.Commit]; commit != "" {
		r.Git.Head, r.Snapshot.Tree, r.Snapshot.Complete = commit, im.links.trees[commit], true
		return
	}
	r.Files = record.NewFiles(create.ToPaths(d.Created), create.ToPaths(d.Modified), create.ToPaths(d.Deleted))
}

// build is called in the transaction. It writes the planned checkpoints and returns the
// change of the journal.
func (im *importing) build(ctx context.Context, v store.View) (store.Change, error) {
	var change store.Change
	steps := im.plan(v)
	if len(steps) == 0 {
		return change, nil
	}
	if v.State == nil {
		start, err := checkpoint.NewStart(im.s, im.session, im.def.Name, im.in.Topic, string(im.links.branchOf("", im.in.Branch)))
		if err != nil {
			return change, err
		}
		// The start event gets the time of the layout, so that the session sorts by its
		// real age.
		start.Time, start.WorktreeID = im.in.CreatedAt.UTC().Truncate(time.Millisecond), ""
		change.Events = append(change.Events, start)
	}
	w := &importWriter{importing: im, v: v, change: &change, beside: map[string]name.OID{}, drawn: map[name.ID]bool{}, last: newImportMap(v.State, nil).current}
	if err := w.writeFiles(ctx, im.in.Beside, w.beside); err != nil {
		return change, err
	}
	if err := w.writeAll(ctx, steps); err != nil {
		return change, err
	}
	return change, w.finish(steps)
}

// importWriter writes the objects of an import and collects its events.
type importWriter struct {
	*importing
	v      store.View
	change *store.Change
	beside map[string]name.OID // the blobs of in.Beside by name, which all documents share
	drawn  map[name.ID]bool    // the ids that this import has used
	last   int                 // index in the importMap of the current checkpoint; -1: none
}

// writeAll prepares the checkpoints in order, writes their objects in parallel, and then
// completes their events, for which prepare reserved places in the journal.
func (w *importWriter) writeAll(ctx context.Context, steps []planned) error {
	at := make([]int, len(steps)) // index of its event
	for i := range steps {
		p := &steps[i]
		if at[i] = len(w.change.Events); p.document == nil {
			if err := w.moved(p); err != nil {
				return err
			}
			continue
		}
		// This reserves the place of the event. It needs the commit, which is not written
		// yet.
		w.change.Events = append(w.change.Events, journal.Event{})
		if err := w.prepare(ctx, p); err != nil {
			return err
		}
	}
	written := make([]store.Written, len(steps))
	err := git.Each(len(steps), func(i int) (err error) {
		if steps[i].document != nil && ctx.Err() == nil {
			written[i], err = w.write(ctx, &steps[i])
		}
		return err
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	for i := range steps {
		if steps[i].document != nil {
			if w.change.Events[at[i]], err = w.created(&steps[i], written[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the objects of one checkpoint. It may run in parallel with others.
func (w *importWriter) write(ctx context.Context, p *planned) (store.Written, error) {
	d := store.Draft{
		Record: p.record, Tree: p.record.Snapshot.Tree, Head: p.record.Git.Head, Outputs: map[string]name.OID{},
		Import: map[string]name.OID{}, Metrics: create.MetricsOf(w.def, p.record.State), Limits: record.Limits{Size: w.limit},
	}
	d.Author, d.Committer = w.s.Repo.Commits.Identity(p.record.CreatedAt)
	if err := w.writeBlobs(ctx, p, &d); err != nil {
		return store.Written{}, err
	}
	written, err := w.s.WriteCheckpoint(ctx, d)
	if err != nil {
		return written, fmt.Errorf("%s: %w", p.document.Path, err)
	}
	return written, nil
}

// created returns the create event of a checkpoint and adds the checkpoint to the change.
func (w *importWriter) created(p *planned, written store.Written) (journal.Event, error) {
	e, err := w.event(journal.KindCreate, p.record.CreatedAt)
	checkpoint.NameIn(&e, p.record, written.Commit)
	if p.document.OwnID != p.document.Key {
		e.Extra = append(e.Extra, checkpoint.DocumentTrailer(checkpoint.TrailerDocument, p.document.OwnID)...)
	}
	w.change.Create = append(w.change.Create, store.NewCheckpoint{ID: p.record.ID, Commit: written.Commit, RecordBlob: written.RecordBlob})
	w.change.Verify = append(w.change.Verify, written.NewObjects...)
	return e, err
}

// prepare gives the record a free id, its previous checkpoint, and the list of files that
// differ from that one. A checkpoint without files of its own has no such list.
func (w *importWriter) prepare(ctx context.Context, p *planned) error {
	r, entries := p.record, w.importMap.entries
	for r.ID == "" || w.drawn[r.ID] {
		var err error
		if r.ID, err = checkpoint.FreeID(w.s, w.v.State, r.Step, r.CreatedAt); err != nil {
			return err
		}
	}
	w.drawn[r.ID] = true
	entries[p.entry].id, w.told[p.told].ID = r.ID, r.ID
	before := w.last
	w.last = p.entry
	if before >= 0 {
		r.Previous = entries[before].id
	}
	if r.Snapshot.Tree == "" {
		return nil
	}
	// Without an earlier tree, compare with itself, so nothing counts as changed.
	tree := r.Snapshot.Tree
	if before >= 0 {
		tree = cmp.Or(entries[before].tree, tree)
	}
	changes, err := w.s.Repo.Trees.Diff(ctx, tree, r.Snapshot.Tree)
	if err != nil {
		return err
	}
	r.Files = create.FilesOf(changes)
	return nil
}

// writeBlobs writes the blobs of the outputs and of the imported files, and records where they
// came from.
func (w *importWriter) writeBlobs(ctx context.Context, p *planned, d *store.Draft) error {
	for _, o := range p.document.Outputs {
		kept, err := create.KeepOutput(ctx, w.s.Repo, o.Name, p.document.Path, o.Content)
		if err != nil {
			return err
		}
		p.record.Outputs[o.Name], d.Outputs[o.Name] = kept.Output, kept.OID
	}
	if err := w.writeFiles(ctx, p.document.Kept, d.Import); err != nil {
		return err
	}
	maps.Copy(d.Import, w.beside)
	p.record.Extra = nil
	checkpoint.ImportedMember.Set(&p.record.Extra, checkpoint.ImportedFrom{Format: w.format, Key: p.document.Key, Path: p.document.Path, Digest: p.digest, Files: d.Import})
	return nil
}

// writeFiles writes the blobs of files and adds them to blobs by name.
func (w *importWriter) writeFiles(ctx context.Context, files []ImportFile, blobs map[string]name.OID) (err error) {
	for _, f := range files {
		if blobs[f.Name], err = w.s.Repo.Objects.Write(ctx, "blob", f.Content); err != nil {
			return err
		}
	}
	return nil
}

// event returns an event about something that happened elsewhere. It has no worktree id,
// because an undo here must not take it back.
func (w *importWriter) event(kind journal.Kind, at time.Time) (journal.Event, error) {
	e, err := checkpoint.NewEvent(w.s, kind, w.session)
	e.Time, e.WorktreeID = at.UTC().Truncate(time.Millisecond), ""
	return e, err
}

// moved adds the event of a rollback, or the event that makes the layout's current
// checkpoint current. The latter is marked as derived, so that an export does not write it
// as a rollback.
func (w *importWriter) moved(p *planned) error {
	to := w.importMap.entries[p.target]
	at := w.s.Now()
	if p.rollback != nil {
		at = p.rollback.At
	}
	e, err := w.event(journal.KindRollback, at)
	if err != nil {
		return err
	}
	e.To, e.ToLabel, e.Mode = to.id, to.label, string(rollback.ModeState)
	e.Extra = []journal.Trailer{{Key: checkpoint.TrailerFormat, Value: w.format}}
	if p.rollback != nil {
		e.FromLabel, e.ToLabel, e.Reason = p.rollback.From, p.rollback.To, p.rollback.Reason
		// The checkpoint that was rolled back from may not have been imported, or not be
		// written yet.
		if from := w.importMap.find(p.rollback.From); from >= 0 && w.importMap.entries[from].id != "" {
			e.From = w.importMap.entries[from].id
		}
		for _, i := range p.discard {
			e.Discard = append(e.Discard, w.importMap.entries[i].id)
		}
	} else {
		e.Reason = "current in the imported layout"
		e.Extra = append(e.Extra, journal.Trailer{Key: checkpoint.TrailerDerived, Value: "true"})
		e.Restore = []name.ID{to.id}
	}
	w.last = p.target
	w.change.Events = append(w.change.Events, e)
	return nil
}

// finish closes the session if the layout says that it was closed, and adds the import
// event.
func (w *importWriter) finish(steps []planned) error {
	if w.in.Status != "" && (w.v.State == nil || w.v.State.Status != w.in.Status) {
		e, err := w.event(journal.KindClose, w.closedAt(steps))
		if err != nil {
			return err
		}
		e.Status, e.Extra = w.in.Status, []journal.Trailer{{Key: checkpoint.TrailerFormat, Value: w.format}}
		w.change.Events = append(w.change.Events, e)
	}
	e, err := checkpoint.NewEvent(w.s, journal.KindImport, w.session)
	if err != nil {
		return err
	}
	e.Reason = fmt.Sprintf("%d documents of %s", len(w.change.Create), w.format)
	e.Extra = []journal.Trailer{{Key: checkpoint.TrailerFormat, Value: w.format}}
	w.change.Events = append(w.change.Events, e)
	return nil
}

// closedAt returns the time of the last document, since layouts do not record when a
// session closed.
func (w *importWriter) closedAt(steps []planned) time.Time {
	at := w.in.CreatedAt
	for _, p := range steps {
		if p.document != nil && p.document.At.After(at) {
			at = p.document.At
		}
	}
	return at
}
