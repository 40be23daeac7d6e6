package transfer

// This part goes through the documents and rollbacks of a session once, and turns what is new into
// records, objects and events.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
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
func (im *importing) compose(ctx context.Context, v store.View, d *ImportDocument, at git.Commit) *record.Record {
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
	im.composePlace(ctx, r, d, at)
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

// composePlace fills in branch, commit and files. If the commit at that the document names is
// here, its tree becomes the files of the checkpoint. Otherwise the record has only the
// document's own lists, and says that no files were captured.
func (im *importing) composePlace(ctx context.Context, r *record.Record, d *ImportDocument, at git.Commit) {
	r.Git.Worktree = record.Path(checkpoint.WorktreeName(im.s.Repo))
	r.Git.Branch = record.Path(im.branchOf(ctx, d.Branch))
	// The branch is not here, so it cannot be recorded as a ref. Its name is kept as an
	// extra member.
	if named := cmp.Or(d.Branch, im.in.Branch); r.Git.Branch == "" && named != "" && isPlainBranch(named) {
		record.DocumentBranch.Set(&r.Git.Extra, named)
	}
	if at.OID != "" {
		r.Git.Head, r.Snapshot.Tree, r.Snapshot.Complete = at.OID, at.Tree, true
		return
	}
	r.Files = record.NewFiles(create.ToPaths(d.Created), create.ToPaths(d.Modified), create.ToPaths(d.Deleted))
}

// build is called in the transaction. It adds what is new of each step, and returns the change of the
// journal.
func (im *importing) build(ctx context.Context, v store.View) (store.Change, error) {
	im.importMap, im.told, im.change = newImportMap(v.State, im.in.Known), nil, store.Change{}
	im.beside, im.drawn, im.newest = nil, map[name.ID]bool{}, im.in.CreatedAt
	for i, step := range im.in.Steps {
		err := ctx.Err()
		if step.Rollback != nil && err == nil {
			err = im.addRollback(step.Rollback)
		} else if err == nil {
			err = im.addDocument(ctx, v, step.Document, im.digests[i])
		}
		if err != nil {
			return im.change, err
		}
	}
	if len(im.change.Events) == 0 {
		return im.change, nil
	}
	if err := im.makeCurrent(); err != nil {
		return im.change, err
	}
	return im.change, im.finish(ctx, v)
}

// addDocument decides whether a document is new, changed or known, and makes a checkpoint of it unless
// it is known.
func (im *importing) addDocument(ctx context.Context, v store.View, d *ImportDocument, digest string) error {
	m := im.importMap
	at, err := im.commitOf(ctx, d.Commit)
	if err != nil {
		return err
	}
	told := Imported{Session: im.session, Key: d.Key, Path: d.Path, Action: ImportAdded, At: checkpoint.Time{Time: d.At}, Commit: at.OID}
	// A known document with another digest was changed in its own system. It becomes a
	// new checkpoint with the same key.
	had := m.digests[d.Key]
	// An export writes one document for a key. If that is made of a checkpoint of ours, it is
	// known, too, like the one that was imported.
	if had == digest || im.in.Known[d.Key].Digest == digest {
		told.Action = ImportUnchanged
		if i := m.find(d.Key); i >= 0 {
			told.ID, told.Label, told.Step = m.entries[i].id, m.entries[i].label, m.entries[i].step
		}
		im.told = append(im.told, told)
		return nil
	}
	if had != "" {
		told.Action = ImportChanged
	}
	r := im.compose(ctx, v, d, at)
	if !im.dryRun {
		if err := im.write(ctx, v, d, r, digest); err != nil {
			return err
		}
	}
	m.digests[d.Key] = digest
	m.add(importEntry{
		id: r.ID, key: d.Key, label: r.Label, step: r.Step, stepName: r.StepName, iteration: r.Iteration,
		milestone: r.Milestone, live: true, tree: r.Snapshot.Tree,
	})
	told.ID, told.Label, told.Step = r.ID, r.Label, r.Step
	im.told = append(im.told, told)
	return nil
}

// write completes a record and writes its checkpoint. It adds both, and their event, to the change.
func (im *importing) write(ctx context.Context, v store.View, d *ImportDocument, r *record.Record, digest string) error {
	if err := im.follow(ctx, v, r); err != nil {
		return err
	}
	draft := store.Draft{
		Record: r, Tree: r.Snapshot.Tree, Head: r.Git.Head, Outputs: map[string]name.OID{},
		Import: map[string]name.OID{}, Metrics: create.MetricsOf(im.def, r.State), Limits: record.Limits{Size: im.limit},
	}
	draft.Author, draft.Committer = im.s.Repo.Commits.Identity(r.CreatedAt)
	for _, o := range d.Outputs {
		kept, err := create.KeepOutput(ctx, im.s.Repo, o.Name, d.Path, o.Content)
		if err != nil {
			return err
		}
		r.Outputs[o.Name], draft.Outputs[o.Name] = kept.Output, kept.OID
	}
	if im.beside == nil {
		im.beside = map[string]name.OID{}
		if err := im.writeFiles(ctx, im.in.Beside, im.beside); err != nil {
			return err
		}
	}
	if err := im.writeFiles(ctx, d.Kept, draft.Import); err != nil {
		return err
	}
	maps.Copy(draft.Import, im.beside)
	checkpoint.ImportedMember.Set(&r.Extra, checkpoint.ImportedFrom{Format: im.in.Format, Key: d.Key, Path: d.Path, Digest: digest, Files: draft.Import})
	written, err := im.s.WriteCheckpoint(ctx, draft)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	e, err := im.event(journal.KindCreate, r.CreatedAt)
	checkpoint.NameIn(&e, r, written.Commit)
	if d.OwnID != d.Key {
		e.Extra = append(e.Extra, checkpoint.DocumentTrailer(checkpoint.TrailerDocument, d.OwnID)...)
	}
	im.change.Events = append(im.change.Events, e)
	im.change.Create = append(im.change.Create, store.NewCheckpoint{ID: r.ID, Commit: written.Commit, RecordBlob: written.RecordBlob})
	im.change.Verify = append(im.change.Verify, written.NewObjects...)
	if d.At.After(im.newest) {
		im.newest = d.At
	}
	return err
}

// follow gives the record a free id, its previous checkpoint, and the list of files that
// differ from that one. A checkpoint without files of its own has no such list.
func (im *importing) follow(ctx context.Context, v store.View, r *record.Record) (err error) {
	for r.ID == "" || im.drawn[r.ID] {
		if r.ID, err = checkpoint.FreeID(im.s, v.State, r.Step, r.CreatedAt); err != nil {
			return err
		}
	}
	im.drawn[r.ID] = true
	// Without an earlier tree, compare with itself, so nothing counts as changed.
	tree := r.Snapshot.Tree
	if m := im.importMap; m.current >= 0 {
		before := m.entries[m.current]
		r.Previous, tree = before.id, cmp.Or(before.tree, tree)
	}
	if r.Snapshot.Tree == "" {
		return nil
	}
	changes, err := im.s.Repo.Trees.Diff(ctx, tree, r.Snapshot.Tree)
	if err != nil {
		return err
	}
	r.Files = create.FilesOf(changes)
	return nil
}

// writeFiles writes the blobs of files and adds them to blobs by name.
func (im *importing) writeFiles(ctx context.Context, files []ImportFile, blobs map[string]name.OID) (err error) {
	for _, f := range files {
		if blobs[f.Name], err = im.s.Repo.Objects.Write(ctx, "blob", f.Content); err != nil {
			return err
		}
	}
	return nil
}

// event returns an event about something that happened elsewhere. It has no worktree id,
// because an undo here must not take it back.
func (im *importing) event(kind journal.Kind, at time.Time) (journal.Event, error) {
	e, err := checkpoint.NewEvent(im.s, kind, im.session)
	e.Time, e.WorktreeID = at.UTC().Truncate(time.Millisecond), ""
	return e, err
}

// addRollback adds a rollback, unless the journal has it already or its target is not here. In the
// latter case the history stays available in the kept files only. As in a rollback here, everything
// after the target is discarded, and the target lives again.
func (im *importing) addRollback(r *ImportRollback) error {
	m := im.importMap
	to, key := m.find(r.To), rollbackKey(r.From, r.To, r.At, r.Reason)
	if to < 0 || m.rollbacks[key] {
		return nil
	}
	m.rollbacks[key] = true
	var from name.ID
	if at := m.find(r.From); at >= 0 { // it may not have been imported
		from = m.entries[at].id
	}
	var discard []name.ID
	for i := to + 1; i < len(m.entries); i++ {
		if m.entries[i].live {
			m.entries[i].live = false
			discard = append(discard, m.entries[i].id)
		}
	}
	return im.move(to, r.At, func(e *journal.Event) {
		e.From, e.FromLabel, e.ToLabel, e.Reason, e.Discard = from, r.From, r.To, r.Reason, discard
	})
}

// makeCurrent adds the event that makes the layout's current checkpoint current, if the documents that
// were added leave another one current. It is marked as derived, so that an export does not write it
// as a rollback.
func (im *importing) makeCurrent() error {
	to := im.importMap.find(im.in.Current)
	if im.in.Current == "" || to < 0 || to == im.importMap.current {
		return nil
	}
	return im.move(to, im.s.Now(), func(e *journal.Event) {
		e.Reason, e.Restore = "current in the imported layout", []name.ID{e.To}
		e.Extra = append(e.Extra, journal.Trailer{Key: checkpoint.TrailerDerived, Value: "true"})
	})
}

// move makes an entry live and current, and adds the event that says so, which fill completes.
func (im *importing) move(to int, at time.Time, fill func(*journal.Event)) error {
	entry := &im.importMap.entries[to]
	entry.live, im.importMap.current = true, to
	if im.dryRun {
		return nil
	}
	e, err := im.event(journal.KindRollback, at)
	e.To, e.ToLabel, e.Mode = entry.id, entry.label, string(rollback.ModeState)
	e.Extra = []journal.Trailer{{Key: checkpoint.TrailerFormat, Value: im.in.Format}}
	fill(&e)
	im.change.Events = append(im.change.Events, e)
	return err
}

// finish puts the start of a new session before the other events, closes the session if the layout says
// that it was closed, and adds the import event. Layouts do not record when a session closed, so that
// is the time of its last document.
func (im *importing) finish(ctx context.Context, v store.View) error {
	if v.State == nil {
		start, err := checkpoint.NewStart(im.s, im.session, im.def.Name, im.in.Topic, string(im.branchOf(ctx, "")))
		if err != nil {
			return err
		}
		// The start event gets the time of the layout, so that the session sorts by its
		// real age.
		start.Time, start.WorktreeID = im.in.CreatedAt.UTC().Truncate(time.Millisecond), ""
		im.change.Events = slices.Insert(im.change.Events, 0, start)
	}
	format := []journal.Trailer{{Key: checkpoint.TrailerFormat, Value: im.in.Format}}
	if im.in.Status != "" && (v.State == nil || v.State.Status != im.in.Status) {
		e, err := im.event(journal.KindClose, im.newest)
		if err != nil {
			return err
		}
		e.Status, e.Extra = im.in.Status, format
		im.change.Events = append(im.change.Events, e)
	}
	e, err := checkpoint.NewEvent(im.s, journal.KindImport, im.session)
	e.Reason, e.Extra = fmt.Sprintf("%d documents of %s", len(im.change.Create), im.in.Format), format
	im.change.Events = append(im.change.Events, e)
	return err
}
