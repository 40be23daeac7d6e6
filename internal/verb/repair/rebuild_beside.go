package repair

// This file handles checkpoints whose record is lost. First it tries to restore the original record
// commit. If that fails it makes a replacement: a new checkpoint with the same label, step and
// time, whose record says what it was rebuilt from and what is missing.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
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
func (w *repairs) notedRecord(ctx context.Context, v proof.Verdict) (found *record.Record, err error) {
	blob := w.p.Notes.NoteOf(v.Commit())
	if blob == "" || v.Entry.Event().Record == "" {
		return nil, nil
	}
	// Prove hashes the blob itself, so a garbled note is not used.
	err = w.s.Repo.Objects.Batch().Prove(ctx, []string{string(blob)}, record.MaxSize, func(_ int, o git.Object, err error) error {
		if err != nil || o.Type != "blob" || o.Data == nil {
			return nil //nolint:nilerr // then there is none
		}
		r, changed, err := record.ParseSealed(o.Data)
		if err == nil && changed == nil && r.Checksum == v.Entry.Event().Record && r.ID == v.ID {
			found = r
		}
		return nil
	})
	return found, err
}

// restoreRecord makes up for a record that is lost. If the note has it, and M composed from it has the id
// that C names, M is written again and C is whole; then the result is true. Otherwise it makes a checkpoint
// beside the broken one, from what the message, the trees, the note and the journal still prove. Objects
// cannot be changed, so the broken one stays. If any of its files is lost, none is made.
func (w *repairs) restoreRecord(ctx context.Context, v proof.Verdict, l *Rebuilt) (again bool, err error) {
	b := &beside{repairs: w, broken: v, line: l}
	if err := b.gather(ctx); err != nil {
		return false, err
	}
	if again, err = b.rewriteRecordCommit(ctx); again || err != nil {
		return again, err
	}
	// An earlier rebuild has made one already.
	if id := w.standIn(v.ID); id != "" {
		l.Rebuilt, l.RebuiltFrom = id, v.ID
		return false, nil
	}
	slices.Sort(b.missing)
	l.Missing = append(l.Missing, b.missing...)
	if b.record == nil {
		return false, nil
	}
	if b.draft.Tree != "" { // an imported one may have no files
		if err := checkpoint.VerifyObjects(ctx, w.s.Repo, b.draft.Tree); err != nil {
			l.Missing = append(l.Missing, "files: "+err.Error())
			return false, ctx.Err()
		}
	}
	return false, b.make(ctx)
}

// beside is what is gathered of a broken checkpoint.
type beside struct {
	*repairs
	broken  proof.Verdict
	line    *Rebuilt
	record  *record.Record
	proven  bool // the record is the original one
	draft   store.Draft
	missing []string // what could not be recovered: it ends up in the line, the record and the event
}

func (b *beside) lost(what ...string) { b.missing = append(b.missing, what...) }

// gather collects everything that can be proven. The best source is the record, then the message of
// the checkpoint commit.
func (b *beside) gather(ctx context.Context) (err error) {
	commit := b.broken.Parts.Commit
	if b.record = b.broken.Record; b.record == nil { // else it is of an older format, and all of it is known
		if b.record, err = b.notedRecord(ctx, b.broken); err != nil {
			return err
		}
	}
	switch b.proven = b.record != nil; {
	case b.proven:
		b.draft.Tree, b.draft.Head = b.record.Snapshot.Tree, b.record.Git.Head
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
	b.draft.Record = b.record
	return b.parts(ctx)
}

// rewriteRecordCommit writes M again if its tree, which follows from the record, gives it the id that C names. With exact
// bytes or conflicts it does not.
func (b *beside) rewriteRecordCommit(ctx context.Context) (bool, error) {
	c, note := b.broken.Parts.Commit, b.p.Notes.NoteOf(b.broken.Commit())
	if b.broken.Record != nil || !b.proven || note == "" || c.OID == "" {
		return false, nil
	}
	b.draft.Author, b.draft.Committer = c.Author, c.Committer
	m, err := b.s.Store.ComposeRecord(ctx, &b.draft, note)
	if err != nil || git.HashObject(b.s.Repo.Format, "commit", m.Encode()) != b.broken.Parts.RecordCommit {
		return false, err
	}
	for _, f := range b.broken.Findings {
		if f.Kind == proof.RecordCommitMissing || f.Kind == proof.RecordCommitGarbled || f.Kind == proof.TreeMissing || f.Kind == proof.TreeGarbled {
			b.line.mended(f, "the commit of its record was written again, byte for byte")
		}
	}
	_, err = b.s.Repo.Commits.Write(ctx, m)
	return err == nil, err
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
// The first one is compared with HEAD.
func (b *beside) files(ctx context.Context) (err error) {
	var base name.OID
	from := b.draft.Head
	if e := b.p.State.Entry(b.record.Previous); e != nil {
		from = e.Event().Commit
	}
	if from != "" {
		base, err = b.s.Repo.Commits.TreeOf(ctx, from)
	}
	var changes []git.Change
	if err == nil {
		changes, err = b.s.Repo.Trees.Diff(ctx, base, b.draft.Tree)
	}
	if err != nil {
		b.lost("files")
		return ctx.Err()
	}
	b.record.Files = create.FilesOf(changes)
	return nil
}

// parts takes over what lies beside the record in M, as far as it is here. If M's tree is lost, the
// record still names outputs, index and imported files; exact bytes and conflicts it only mentions.
func (b *beside) parts(ctx context.Context) error {
	r, d := b.record, &b.draft
	for _, part := range b.broken.Parts.Tree {
		if err := b.s.Store.ReadPart(ctx, part, d); err != nil {
			b.lost(part.Name)
		}
	}
	switch {
	case b.broken.Parts.Tree != nil:
	case !b.proven:
		b.lost("outputs", "git.index")
	default:
		from, _ := checkpoint.ImportedMember.Of(r.Extra)
		d.IndexTree, d.Import, d.Outputs = r.Git.Index, from.Files, map[string]name.OID{}
		for n, o := range r.Outputs {
			d.Outputs[n] = o.OID
		}
		if len(r.Snapshot.Raw)+len(r.Git.Unmerged) > 0 {
			b.lost("exact bytes and conflicts")
		}
	}
	if err := b.present(ctx); err != nil {
		return err
	}
	// The new record must not claim what the new M does not hold.
	r.Git.Index, r.Git.Unmerged, r.Snapshot.Raw = d.IndexTree, nil, nil
	for p := range d.Raw {
		r.Snapshot.Raw = append(r.Snapshot.Raw, record.Path(p))
	}
	for _, c := range d.Conflicts {
		r.Git.Unmerged = append(r.Git.Unmerged, record.Path(c.Path))
	}
	slices.Sort(r.Snapshot.Raw)
	slices.Sort(r.Git.Unmerged)
	r.Git.Unmerged = slices.Compact(r.Git.Unmerged)
	return b.outputs(ctx)
}

// present leaves out of the draft what is missing or garbled.
func (b *beside) present(ctx context.Context) error {
	d := &b.draft
	all := []name.OID{d.IndexTree, d.Flags}
	of := map[string]map[string]name.OID{"output": d.Outputs, "exact bytes of": d.Raw, "imported file": d.Import}
	for _, files := range of {
		all = slices.AppendSeq(all, maps.Values(files))
	}
	for _, c := range d.Conflicts {
		if c.Entry.Mode != git.ModeGitlink { // its commit is in another repository
			all = append(all, c.Entry.OID)
		}
	}
	bad, err := damaged(ctx, b.s.Repo, gather.Those(all, func(oid name.OID) bool { return oid != "" }))
	if err != nil {
		return err
	}
	lost := func(what string, oid name.OID) bool {
		if bad[oid] {
			b.lost(what)
		}
		return bad[oid]
	}
	for what, files := range of {
		maps.DeleteFunc(files, func(file string, oid name.OID) bool {
			if _, err := name.ParseOutput(file); err != nil && what == "output" { // an earlier version took it
				b.lost("output " + file)
				return true
			}
			return lost(what+" "+file, oid)
		})
	}
	d.Conflicts = slices.DeleteFunc(d.Conflicts, func(c git.Unmerged) bool { return lost("conflicts of "+c.Path, c.Entry.OID) })
	// Without the tree of the index nothing is known about what was staged.
	if lost("git.index", d.IndexTree) {
		d.IndexTree = ""
	}
	if lost("the flags of the index", d.Flags) {
		d.Flags = ""
	}
	return nil
}

// outputs makes the record name the outputs that are kept. Where the record is lost, all but the source of
// an output can be computed.
func (b *beside) outputs(ctx context.Context) error {
	known := b.record.Outputs
	b.record.Outputs = map[string]record.Output{}
	for n, oid := range b.draft.Outputs {
		of, is := known[n]
		if !is {
			o, err := b.s.Repo.Objects.Batch().Typed(ctx, string(oid), "blob")
			if err != nil {
				return err
			}
			lines, entries := record.Measure(o.Data)
			of = record.Output{Path: record.Path(path.Join("outputs", n)), OID: oid, Size: o.Size, Lines: lines, Entries: entries}
			b.lost("source of output " + n)
		}
		b.record.Outputs[n] = of
	}
	return nil
}

// make writes the commits of the new checkpoint and prepares its event. The transaction comes
// later, in repairs.write.
func (b *beside) make(ctx context.Context) error {
	r := b.record
	if missing, err := b.s.Repo.Objects.Batch().Missing(ctx, []name.OID{b.draft.Head}); err != nil {
		return err
	} else if missing[b.draft.Head] { // git would not pack a ref that leads to it
		b.line.Missing = append(b.line.Missing, "the commit of HEAD")
		record.HeadDropped.Set(&r.Git.Extra, true)
		b.draft.Head = ""
	}
	// The record may have come from the note, with the checksum of the original.
	r.Format, r.RebuiltFrom, r.Checksum = record.Format, b.broken.ID, ""
	if len(b.line.Missing) > 0 {
		slices.Sort(b.line.Missing)
		b.line.Missing = slices.Compact(b.line.Missing)
		record.RebuiltMissing.Set(&r.Extra, b.line.Missing)
	}
	var err error
	if r.ID, err = checkpoint.FreeID(b.s.Store, b.p.State, r.Step, r.CreatedAt); err != nil {
		return err
	}
	b.draft.Author, b.draft.Committer = b.s.Repo.Commits.Identity(r.CreatedAt)
	written, err := b.s.Store.WriteCheckpoint(ctx, b.draft)
	if err != nil {
		return fmt.Errorf("rebuild %s: %w", b.broken.ID, err)
	}
	e, err := checkpoint.NewEvent(b.s.Store, journal.KindRebuild, b.session)
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

// rescue looks in the worktree for the content of missing objects. A file whose content has the id
// of a missing object is that object, whoever wrote it.
func (w *repairs) rescue(ctx context.Context, v proof.Verdict) error {
	lost := map[name.OID]checkpoint.Finding{} // that this run or an earlier deep validation found
	trees := false
	for _, f := range slices.Concat(w.known[v.ID], v.Findings) {
		tree := f.Kind == proof.TreeMissing || f.Kind == proof.TreeGarbled
		if oid, err := name.ParseOID(f.Object); err == nil && (tree || f.Kind == proof.BlobMissing || f.Kind == proof.BlobGarbled) {
			lost[oid], trees = f, trees || tree
		}
	}
	oids := slices.Sorted(maps.Keys(lost))
	bad, err := damaged(ctx, w.s.Repo, oids)
	if err != nil || len(bad) == 0 {
		return err
	}
	if trees && v.Record != nil {
		// A capture writes the trees of the worktree. That of a directory that has not changed since the
		// checkpoint is the missing one. If it fails, the worktree is of no help.
		inspect.TreeNow(ctx, w.s, v.Record) //nolint:errcheck // see above
	}
	from, err := w.rescueFiles(ctx, v, bad)
	if err != nil {
		return err
	}
	still, err := damaged(ctx, w.s.Repo, oids)
	for _, oid := range oids {
		if bad[oid] && !still[oid] {
			w.line(v.ID, v.Label).mended(lost[oid], "the content was taken from %s", cmp.Or(from[oid], "the worktree"))
		}
	}
	return err
}

// rescueFiles writes the lost content of files that are where the checkpoint had it, or its outputs came
// from, and returns where each was. Hashing the whole worktree would take too long.
func (w *repairs) rescueFiles(ctx context.Context, v proof.Verdict, lost map[name.OID]bool) (from map[name.OID]string, err error) {
	const most = 100 << 20 // the size of the largest file that is read, in bytes
	var paths []string
	err = w.s.Repo.Trees.Walk(ctx, v.Parts.Commit.Tree, func(path string, e git.Entry) error {
		if lost[e.OID] {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if v.Record != nil {
		for _, o := range v.Record.Outputs {
			if lost[o.OID] && filepath.IsLocal(string(o.Source)) {
				paths = append(paths, string(o.Source))
			}
		}
	}
	files, err := worktree.Open(w.s.Repo.WorkTree, nil)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	from = map[name.OID]string{}
	for _, path := range paths {
		if info, err := files.Lstat(path); err != nil || info == nil || !info.Mode().IsRegular() || info.Size() > most {
			continue
		}
		data, _, err := files.ReadWhole(path)
		// Hash the raw bytes. A file whose content git converts has another id, and is not found.
		oid := git.HashObject(w.s.Repo.Format, "blob", data)
		if err != nil || !lost[oid] {
			continue
		}
		if _, err := w.s.Repo.Objects.Write(ctx, "blob", data); err != nil {
			return nil, err
		}
		from[oid] = path
	}
	return from, nil
}
