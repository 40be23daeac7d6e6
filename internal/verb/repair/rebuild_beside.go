package repair

// This file handles checkpoints whose record is lost. First it tries to restore the original record
// commit. If that fails it makes a replacement: a new checkpoint with the same label, step and
// time, whose record says what it was rebuilt from and what is missing.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
)

// lostRecord reports whether the record of a checkpoint cannot be read because it, its commits or
// their trees are lost.
func (w *repairs) lostRecord(v proof.Verdict) bool {
	return v.Record == nil && slices.ContainsFunc(v.Findings, func(f checkpoint.Finding) bool {
		switch f.Kind {
		case proof.RecordMissing, proof.RecordGarbled, proof.RecordUnreadable, proof.RecordLimits,
			proof.RecordCommitMissing, proof.RecordCommitGarbled, proof.CommitMissing, proof.CommitGarbled,
			proof.TreeMissing, proof.TreeGarbled:
			return true
		}
		return false
	})
}

// notedRecord returns the record in the checkpoint's note, if it is exactly the one that the
// journal names. The checksum proves that. The notes are a second copy of all records.
func (w *repairs) notedRecord(ctx context.Context, v proof.Verdict) (*record.Record, name.OID, error) {
	blob := w.p.Notes.Of(v.Commit())
	if blob == "" || v.Entry.Event().Record == "" {
		return nil, "", nil
	}
	var found *record.Record
	// Prove hashes the blob itself, so a garbled note is not used.
	err := w.s.Repo.Objects.Batch().Prove(ctx, []string{string(blob)}, record.MaxSize, func(_ int, o git.Object, err error) error {
		if err != nil || o.Type != "blob" || o.Data == nil {
			return nil //nolint:nilerr // then there is none
		}
		r, changed, err := record.ParseSealed(o.Data)
		if err == nil && changed == nil && r.Checksum == v.Entry.Event().Record && r.ID == v.ID {
			found = r
		}
		return nil
	})
	return found, blob, err
}

// regenerateRecord tries to write the record commit M again, byte for byte. Its tree follows from
// the record, author and date are those of C, and C names M's id, so the result can be compared
// before it is written. It reports whether that worked.
func (w *repairs) regenerateRecord(ctx context.Context, v proof.Verdict, l *Rebuilt) (bool, error) {
	want := v.Parts.RecordCommit
	rec, blob, err := w.notedRecord(ctx, v)
	if err != nil || rec == nil || want == "" {
		return false, err
	}
	// Only the parts that the record names with their ids can be rebuilt. With exact bytes or
	// conflicts the id will not match.
	c := v.Parts.Commit
	from, _ := checkpoint.ImportedMember.Of(rec.Extra)
	m, err := w.s.Store.ComposeRecord(ctx, &store.Draft{Record: rec, Outputs: blobsOf(rec), Import: from.Files, IndexTree: rec.Git.Index, Author: c.Author, Committer: c.Committer}, blob)
	if err != nil {
		return false, nil //nolint:nilerr // what it names is missing too
	}
	if git.HashObject(w.s.Repo.Format, "commit", m.Encode()) != want {
		return false, nil
	}
	if _, err := w.s.Repo.Commits.Write(ctx, m); err != nil {
		return false, err
	}
	for _, f := range v.Findings {
		if f.Kind == proof.RecordCommitMissing || f.Kind == proof.RecordCommitGarbled || f.Kind == proof.TreeMissing || f.Kind == proof.TreeGarbled {
			l.mended(f, "the commit of its record was written again, byte for byte")
		}
	}
	return true, nil
}

// blobsOf returns the blobs of a record's outputs, by name.
func blobsOf(r *record.Record) map[string]name.OID {
	blobs := make(map[string]name.OID, len(r.Outputs))
	for n, o := range r.Outputs {
		blobs[n] = o.OID
	}
	return blobs
}

// standInFor makes a checkpoint beside one whose record or commit is lost, from what the message,
// the trees, the note and the journal still prove. Objects cannot be changed, so the broken
// checkpoint stays. If any of its files is lost, none is made.
func (w *repairs) standInFor(ctx context.Context, v proof.Verdict, l *Rebuilt) error {
	// An earlier rebuild has made one already.
	if id := w.standIn(v.ID); id != "" {
		l.Rebuilt, l.RebuiltFrom = id, v.ID
		return nil
	}
	b := &beside{repairs: w, broken: v, line: l}
	if err := b.gather(ctx); err != nil || b.draft.Tree == "" {
		return err
	}
	if lost, err := w.lacks(ctx, b.draft.Tree); err != nil || lost != "" {
		if lost != "" {
			l.Missing = append(l.Missing, "files: "+lost)
		}
		return err
	}
	return b.make(ctx)
}

// lacks names an object that is missing below a tree, or returns "" if all are there.
func (w *repairs) lacks(ctx context.Context, tree name.OID) (string, error) {
	err := checkpoint.VerifyObjects(ctx, w.s, tree)
	if err != nil && ctx.Err() == nil {
		return err.Error(), nil
	}
	return "", err
}

// beside is a new checkpoint that is made beside a broken one.
type beside struct {
	*repairs
	broken proof.Verdict
	line   *Rebuilt
	record *record.Record
	draft  store.Draft
}

// lost notes what could not be recovered. It ends up in the line, the record and the event.
func (b *beside) lost(what ...string) { b.line.Missing = append(b.line.Missing, what...) }

// gather collects everything that can be proven. The best source is the record, then the message of
// the checkpoint commit.
func (b *beside) gather(ctx context.Context) error {
	rec := b.broken.Record // of an older format: all of it is known
	if rec == nil {
		var err error
		if rec, _, err = b.notedRecord(ctx, b.broken); err != nil {
			return err
		}
	}
	commit := b.broken.Parts.Commit
	switch {
	case rec != nil:
		b.record = rec
		b.draft.Tree, b.draft.Head = rec.Snapshot.Tree, rec.Git.Head
	case commit.OID != "" && b.broken.Message.ID == b.broken.ID:
		b.draft.Tree, b.draft.Head = commit.Tree, commit.MadeOn()
		b.fromMessage()
		if err := b.files(ctx); err != nil {
			return err
		}
	default:
		b.lost("files", "state", "outputs")
		return nil
	}
	if missing, err := b.s.Repo.Objects.Batch().Missing(ctx, []name.OID{b.draft.Head}); err != nil {
		return err
	} else if missing[b.draft.Head] { // git would not pack a ref that leads to it
		b.lost("the commit of HEAD")
		record.HeadDropped.Set(&b.record.Git.Extra, true)
		b.draft.Head = ""
	}
	return b.kept(ctx, rec != nil)
}

// fromMessage makes a record from the commit's message and the journal. State and error are in
// neither, so they are lost.
func (b *beside) fromMessage() {
	s, e := b.broken.Message, b.broken.Entry
	words, topic := record.Body(b.broken.Parts.Commit.Message)
	b.record = &record.Record{
		Format: record.Format, Label: e.Label, Session: b.session, Step: e.Step, StepName: e.Event().StepName, Iteration: e.Event().Iteration,
		Milestone: e.Milestone, Trigger: e.Event().Trigger, Status: e.Event().CheckpointStatus, Message: words, Topic: topic, CreatedAt: s.CreatedAt,
		Workflow: record.Workflow{Name: b.p.State.Workflow}, Previous: e.Event().Previous, State: json.RawMessage("{}"), Outputs: map[string]record.Output{},
	}
	b.record.Git.Head, b.record.Snapshot.Tree = b.draft.Head, b.draft.Tree
	b.lost("state", "error", "workflow.version", "git.branch", "snapshot.skipped", "snapshot.modes")
}

// files computes the list of changed files again, if the tree of the checkpoint before can be read.
func (b *beside) files(ctx context.Context) error {
	var base name.OID
	// Compare with the checkpoint before, or with HEAD for the first one.
	from := string(b.draft.Head)
	if e := b.p.State.Entry(b.record.Previous); e != nil {
		from = string(e.Event().Commit)
	}
	if from != "" {
		commit, err := b.s.Repo.Commits.Read(ctx, from)
		if err != nil {
			b.lost("files")
			return ctx.Err()
		}
		base = commit.Tree
	}
	changes, err := b.s.Repo.Trees.Diff(ctx, base, b.draft.Tree)
	if err != nil {
		b.lost("files")
		return ctx.Err()
	}
	b.record.Files = create.FilesOf(changes)
	return nil
}

// kept takes over what lies beside the record in M: outputs, index and exact bytes. proven means
// that the record is the original one.
func (b *beside) kept(ctx context.Context, proven bool) error {
	tree, r := b.broken.Parts.Tree, b.record
	// M's tree is lost. The record still names the objects of outputs and index; exact bytes and
	// conflicts it only mentions.
	if tree == nil {
		b.draft.IndexTree, b.draft.Outputs = r.Git.Index, blobsOf(r)
		if !proven {
			b.lost("outputs", "git.index")
		} else if len(r.Snapshot.Raw)+len(r.Git.Unmerged) > 0 {
			b.lost("exact bytes and conflicts")
			// The new record must not claim what the new M does not hold.
			r.Snapshot.Raw, r.Git.Unmerged = nil, nil
		}
		return b.present(ctx)
	}
	b.draft.Outputs = map[string]name.OID{}
	b.draft.IndexTree, b.draft.Flags = tree.At("index").OID, tree.At("index-flags").OID
	r.Git.Index = b.draft.IndexTree
	m := b.broken.Parts.RecordCommit
	var err error
	if b.draft.Raw, err = b.s.Store.Raw(ctx, m); err != nil {
		b.lost("exact bytes")
	}
	r.Snapshot.Raw = nil
	for p := range b.draft.Raw {
		r.Snapshot.Raw = append(r.Snapshot.Raw, record.Path(p))
	}
	slices.Sort(r.Snapshot.Raw)
	if b.draft.Conflicts, err = b.s.Store.Conflicts(ctx, m); err != nil {
		b.lost("conflicts")
	}
	r.Git.Unmerged = nil
	for _, c := range b.draft.Conflicts {
		if p := record.Path(c.Path); !slices.Contains(r.Git.Unmerged, p) {
			r.Git.Unmerged = append(r.Git.Unmerged, p)
		}
	}
	if err := b.outputs(ctx, tree.At("outputs").OID); err != nil {
		return err
	}
	return b.present(ctx)
}

// outputs reads the outputs in M's tree again, and computes what the record says about each.
func (b *beside) outputs(ctx context.Context, dir name.OID) error {
	entries, err := b.s.Repo.Trees.Read(ctx, dir)
	if err != nil {
		b.lost("outputs")
		return ctx.Err()
	}
	for _, e := range entries {
		o, err := b.s.Repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
		if _, wrong := name.ParseOutput(e.Name); err != nil || wrong != nil {
			b.lost("output " + e.Name)
			delete(b.record.Outputs, e.Name)
			continue
		}
		lines, counted := record.Measure(o.Data)
		// The record is lost. Only the source of the output cannot be computed.
		if _, known := b.record.Outputs[e.Name]; !known {
			b.record.Outputs[e.Name] = record.Output{
				Path: record.Path(path.Join("outputs", e.Name)), OID: e.OID, Size: o.Size, Lines: lines, Entries: counted,
			}
			b.lost("source of output " + e.Name)
		}
		b.draft.Outputs[e.Name] = e.OID
	}
	return nil
}

// present removes what is named but missing in the object store.
func (b *beside) present(ctx context.Context) error {
	oids := slices.Collect(maps.Values(b.draft.Outputs))
	missing, err := b.s.Repo.Objects.Batch().Missing(ctx, append(oids, b.draft.IndexTree, b.draft.Flags))
	if err != nil {
		return err
	}
	for n, oid := range b.draft.Outputs {
		if missing[oid] {
			b.lost("output " + n)
			delete(b.draft.Outputs, n)
			delete(b.record.Outputs, n)
		}
	}
	// Without the tree of the index nothing is known about what was staged.
	if missing[b.draft.IndexTree] {
		b.lost("git.index")
		b.draft.IndexTree, b.record.Git.Index = "", ""
	}
	if missing[b.draft.Flags] {
		b.draft.Flags = ""
	}
	return nil
}

// make writes the commits of the new checkpoint and prepares its event. The transaction comes
// later, in repairs.write.
func (b *beside) make(ctx context.Context) error {
	r := b.record
	// The record may have come from the note, with the checksum of the original.
	r.Format, r.RebuiltFrom, r.Checksum = record.Format, b.broken.ID, ""
	if len(b.line.Missing) > 0 {
		slices.Sort(b.line.Missing)
		b.line.Missing = slices.Compact(b.line.Missing)
		record.RebuiltMissing.Set(&r.Extra, b.line.Missing)
	}
	var err error
	if r.ID, err = b.s.FreeID(b.p.State, r.Step, r.CreatedAt); err != nil {
		return err
	}
	b.draft.Record = r
	b.draft.Author, b.draft.Committer = b.s.Repo.Commits.Identity(r.CreatedAt)
	written, err := b.s.Store.WriteCheckpoint(ctx, b.draft)
	if err != nil {
		return fmt.Errorf("rebuild %s: %w", b.broken.ID, err)
	}
	e, err := b.s.NewEvent(journal.KindRebuild, b.session)
	if err != nil {
		return err
	}
	checkpoint.NameIn(&e, r, written.Commit)
	if len(b.line.Missing) > 0 {
		e.Reason = "without " + strings.Join(b.line.Missing, ", ")
	}
	// The objects are written. Refs and event follow in the transaction of repairs.write.
	b.stood, b.verify = append(b.stood, e), append(b.verify, written.NewObjects...)
	b.create = append(b.create, store.NewCheckpoint{ID: r.ID, Commit: written.Commit, RecordBlob: written.RecordBlob})
	b.line.Rebuilt, b.line.RebuiltFrom = r.ID, b.broken.ID
	return nil
}
