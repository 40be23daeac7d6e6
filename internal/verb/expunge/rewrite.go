package expunge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
)

// made is the replacement of an old checkpoint.
type made struct {
	*old
	record  *record.Record
	written store.Written
}

// reason is stored for a removed file, in tombstones, and in events. A rollback leaves
// files alone that the record lists as skipped for this reason.
const reason = "expunged"

// reasonRewritten is used there instead for what a rewrite of history replaced. Other clones must
// not take its tombstones for an expunge: after `git lfs migrate` they would remove every large
// file from their own checkpoints.
const reasonRewritten = "history was rewritten"

func (r *rewriting) reason() string {
	if r.from != nil {
		return reasonRewritten
	}
	return reason
}

// rewrite writes the replacement of a checkpoint. before has the replacements so far, by
// old id.
func (r *rewriting) rewrite(ctx context.Context, o *old, before map[name.ID]*made) (*made, error) {
	rec, err := r.recordOf(ctx, o)
	if err != nil {
		return nil, err
	}
	d := store.Draft{Record: rec, Author: o.commit.Author, Committer: o.commit.Committer, Head: o.commit.MadeOn()}
	if d.Tree, err = r.files(ctx, o, rec); err != nil {
		return nil, err
	}
	if r.from == nil && r.plan.dropped(ctx, d.Head) {
		d.Head = ""
		record.HeadDropped.Set(&rec.Git.Extra, true)
	}
	if err := r.parts(ctx, o, &d); err != nil {
		return nil, err
	}
	if r.from[o.entry.Checkpoint] != "" {
		if err := r.align(ctx, o.commit.Message, &d); err != nil {
			return nil, err
		}
	}
	rec.Session = r.as
	rec.RebuiltFrom, rec.Checksum = o.entry.Checkpoint, ""
	if rec.Snapshot.Tree != "" { // otherwise no files were captured
		rec.Snapshot.Tree = d.Tree
	}
	var base name.OID
	b := before[rec.Previous]
	if r.as != r.session { // it must not name one that is not there
		b = r.earlier(rec.Previous, before)
		rec.Previous = ""
	}
	if b != nil {
		rec.Previous, base = b.record.ID, b.record.Snapshot.Tree
	}
	if err := r.changes(ctx, o, rec, base); err != nil {
		return nil, err
	}
	said, err := rec.MarshalJSON()
	if err != nil {
		return nil, err
	}
	rec.ID = r.newID(o, fmt.Sprint(string(said), d.Tree, d.Head, d.IndexTree, d.Outputs, d.Conflicts, d.Raw, d.Flags, d.Import), before)
	// The commit message lists the metrics, which come from the state that may have
	// changed.
	if def, err := r.plan.s.Rules.DefinitionFor(ctx, r.state); err == nil {
		d.Metrics = create.MetricsOf(def, rec.State)
	}
	m := &made{old: o, record: rec}
	m.written, err = r.plan.s.Store.WriteCheckpoint(ctx, d)
	return m, err
}

// newID returns the id of a replacement. It depends only on what that holds and on which ids are taken, so that an
// interrupted expunge, or another clone, makes the same commits, and one that leaves out something else takes another id.
func (r *rewriting) newID(o *old, holds string, before map[name.ID]*made) name.ID {
	for try := 0; ; try++ {
		sum := fnv.New32a()
		fmt.Fprint(sum, o.entry.Checkpoint, holds, try)                                  //nolint:errcheck // a hash takes everything
		id := name.NewID(o.entry.Step, o.entry.Event().Time, uint16(sum.Sum32()&0xffff)) //nolint:gosec // it was cut to fit
		taken := r.state.Has(id) || r.state.Dead(id)
		for _, m := range before {
			taken = taken || m.record.ID == id
		}
		if !taken || try > 1<<16 {
			return id
		}
	}
}

// recordOf returns the record. If the record itself is part of the goal, its secrets are
// replaced.
func (r *rewriting) recordOf(ctx context.Context, o *old) (*record.Record, error) {
	e, found, err := r.plan.s.Repo.Trees.Lookup(ctx, o.record.Tree, "checkpoint.json")
	if err == nil && !found {
		err = errors.New("it has no record")
	}
	if err != nil {
		return nil, err
	}
	blob, err := r.plan.s.Repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
	if err != nil {
		return nil, err
	}
	raw := blob.Data
	if r.plan.goal.hit(e.OID) {
		if raw, _ = r.plan.replace(blob.Data); bytes.Equal(raw, blob.Data) {
			return nil, errors.New("it cannot be removed from the record")
		}
	}
	return record.Parse(raw)
}

// replace replaces the secrets of the goal in content. It repeats that, since the remaining
// text may look like another secret. whole is false if some are left after four rounds.
func (p *Plan) replace(content []byte) (clean []byte, whole bool) {
	for range 4 {
		next, count := p.desk.Replace(content, func(f guard.Finding) (string, bool) {
			if !p.goal.secrets[f.Fingerprint] {
				return "", false
			}
			if p.req.Replace != nil {
				return *p.req.Replace, true
			}
			return "[secret: " + f.Rule + "]", true
		})
		if content = next; count == 0 {
			return content, true
		}
	}
	return content, false
}

// substitute returns the blob that replaces a blob of the goal, or "" if it is removed.
// Results are kept in p.clean.
func (p *Plan) substitute(ctx context.Context, oid name.OID) (name.OID, error) {
	const maxReplaced = 64 << 20 // the largest blob in which text is replaced, in bytes. Larger ones are removed
	if known, done := p.clean[oid]; done {
		return known, nil
	}
	// A named file is removed as a whole. With Replace the user wants to keep the rest.
	if p.goal.blobs[oid] && p.req.Replace == nil {
		p.clean[oid] = ""
		return "", nil
	}
	var content []byte
	var o git.Object
	err := p.s.Repo.Objects.Batch().Info(ctx, []string{string(oid)}, func(_ int, info git.Object, err error) error {
		o = info
		return err
	})
	if err != nil {
		return "", err
	}
	if o.Size <= maxReplaced {
		blob, err := p.s.Repo.Objects.Batch().Typed(ctx, string(oid), "blob")
		if err != nil {
			return "", err
		}
		if clean, whole := p.replace(blob.Data); whole && !worktree.HasPages(blob.Data) && !bytes.Equal(clean, blob.Data) {
			content = clean
		}
	}
	// The content could not be cleaned, so the whole of it is replaced.
	if content == nil && p.req.Replace != nil {
		content = []byte(*p.req.Replace)
	}
	if content == nil {
		p.clean[oid] = ""
		return "", nil
	}
	clean, err := p.s.Repo.Objects.Write(ctx, "blob", content)
	p.clean[oid] = clean
	return clean, err
}

// rewriteTree rewrites a tree without the places in at, and returns the removed paths. instead
// returns the entry for a path whose content is removed; a zero entry removes the path.
func (p *Plan) rewriteTree(ctx context.Context, tree name.OID, at []place, instead func(place) git.Entry) (name.OID, []string, error) {
	edits := map[string]git.Entry{}
	var gone []string
	for _, one := range at {
		clean, err := p.substitute(ctx, one.entry.OID)
		if err != nil {
			return "", nil, err
		}
		if clean != "" {
			edits[one.path] = git.Entry{Mode: one.entry.Mode, OID: clean}
			continue
		}
		edits[one.path] = instead(one)
		gone = append(gone, one.path)
	}
	if len(edits) == 0 {
		return tree, nil, nil
	}
	clean, err := p.s.Repo.Trees.Edit(ctx, tree, edits)
	return clean, gone, err
}

// nothing is the usual instead.
func nothing(place) git.Entry { return git.Entry{} }

// files rewrites the tree of the files. The record lists a removed path as skipped, so that
// no rollback deletes the user's file there.
func (r *rewriting) files(ctx context.Context, o *old, rec *record.Record) (name.OID, error) {
	tree, gone, err := r.plan.rewriteTree(ctx, o.commit.Tree, o.files, nothing)
	for _, file := range gone {
		delete(rec.Snapshot.Modes, record.Path(file))
		rec.Snapshot.AtRisk = slices.DeleteFunc(rec.Snapshot.AtRisk, func(a record.AtRisk) bool { return string(a.Path) == file })
		rec.Snapshot.Skipped = append(rec.Snapshot.Skipped, record.Skipped{Path: record.Path(file), Reason: reason})
		rec.Snapshot.Complete = false
	}
	slices.SortFunc(rec.Snapshot.Skipped, byPath)
	return tree, err
}

func byPath(a, b record.Skipped) int { return cmp.Compare(a.Path, b.Path) }

// parts rewrites what is beside the record: outputs, index, conflicts, exact bytes,
// imported files.
func (r *rewriting) parts(ctx context.Context, o *old, d *store.Draft) error {
	var staged, others []place
	for _, p := range o.parts {
		if rest, inside := strings.CutPrefix(p.path, store.IndexPath+"/"); inside {
			staged = append(staged, place{rest, p.entry})
		} else if p.path != store.RecordPath {
			others = append(others, p)
		}
	}
	tree, _, err := r.plan.rewriteTree(ctx, o.record.Tree, others, nothing)
	if err != nil {
		return err
	}
	entries, err := r.plan.s.Repo.Trees.Read(ctx, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.plan.s.Store.ReadPart(ctx, e, d); err != nil {
			return err
		}
	}
	if d.IndexTree != "" {
		if err := r.index(ctx, d.IndexTree, staged, d); err != nil {
			return err
		}
	}
	r.follow(o, d)
	return r.outputs(ctx, d.Record, d.Outputs)
}

// follow makes the record follow what is beside it. Exact bytes of a file that was rewritten or removed no
// longer belong to it, unless they were rewritten as well. A path without conflicts is no longer unmerged.
func (r *rewriting) follow(o *old, d *store.Draft) {
	for _, p := range o.files {
		if !slices.ContainsFunc(o.parts, func(q place) bool { return q.path == store.RawPath+"/"+p.path }) || r.plan.clean[p.entry.OID] == "" {
			delete(d.Raw, p.path)
		}
	}
	rec := d.Record
	rec.Snapshot.Raw = slices.DeleteFunc(rec.Snapshot.Raw, func(p record.Path) bool { return d.Raw[string(p)] == "" })
	rec.Git.Unmerged = slices.DeleteFunc(rec.Git.Unmerged, func(p record.Path) bool {
		return !slices.ContainsFunc(d.Conflicts, func(c git.Unmerged) bool { return c.Path == string(p) })
	})
	imported(rec, d.Import)
}

// index rewrites what was staged. A removed file gets the version of HEAD, because without
// an entry it would count as staged for deletion.
func (r *rewriting) index(ctx context.Context, tree name.OID, in []place, d *store.Draft) error {
	var head name.OID
	if d.Head != "" {
		if c, err := r.plan.s.Repo.Commits.Read(ctx, string(d.Head)); err == nil {
			head = c.Tree
		}
	}
	clean, _, err := r.plan.rewriteTree(ctx, tree, in, func(p place) git.Entry {
		e, found, err := r.plan.s.Repo.Trees.Lookup(ctx, head, p.path)
		if head == "" || err != nil || !found || r.plan.goal.hit(e.OID) {
			return git.Entry{}
		}
		return git.Entry{Mode: e.Mode, OID: e.OID}
	})
	if err != nil {
		return err
	}
	d.IndexTree, d.Record.Git.Index = clean, clean
	if clean == tree {
		return nil
	}
	return r.staged(ctx, d, head)
}

// staged lists again where the index of a replacement differs from the files of its HEAD.
func (r *rewriting) staged(ctx context.Context, d *store.Draft, head name.OID) error {
	changes, err := r.plan.s.Repo.Trees.Diff(ctx, head, d.IndexTree)
	if err != nil {
		return err
	}
	staged := slices.Clone(d.Record.Git.Unmerged)
	staged = append(staged, gather.List(changes, func(c git.Change) record.Path { return record.Path(c.Path) })...)
	slices.Sort(staged)
	d.Record.Git.Staged = slices.Compact(staged)
	if most := 1000; len(d.Record.Git.Staged) > most { // the limit of the format
		d.Record.Git.Staged = d.Record.Git.Staged[:most]
		record.StagedCut.Set(&d.Record.Git.Extra, true)
	}
	return nil
}

// outputs updates the sizes and ids of outputs in the record, and removes those that are
// gone.
func (r *rewriting) outputs(ctx context.Context, rec *record.Record, kept map[string]name.OID) error {
	for output, o := range rec.Outputs {
		oid := kept[output]
		if oid == "" {
			delete(rec.Outputs, output)
			continue
		}
		if oid == o.OID {
			continue
		}
		blob, err := r.plan.s.Repo.Objects.Batch().Typed(ctx, string(oid), "blob")
		if err != nil {
			return err
		}
		o.OID, o.Size = oid, blob.Size
		o.Lines, o.Entries = record.Measure(blob.Data)
		rec.Outputs[output] = o
	}
	return nil
}

// imported updates the ids of imported files in the record.
func imported(rec *record.Record, kept map[string]name.OID) {
	var member map[string]json.RawMessage
	var files map[string]name.OID
	if json.Unmarshal(rec.Extra[string(checkpoint.ImportedMember)], &member) != nil || json.Unmarshal(member["files"], &files) != nil {
		return
	}
	for file := range files {
		if files[file] = kept[file]; kept[file] == "" {
			delete(files, file)
		}
	}
	member["files"], _ = json.Marshal(files)                               //nolint:errcheck // names and ids never fail
	rec.Extra[string(checkpoint.ImportedMember)], _ = json.Marshal(member) //nolint:errcheck // the same
}

// changes updates the list of changed files. If the previous checkpoint was rewritten, it
// is computed again, and else the removed files are taken out of the list.
func (r *rewriting) changes(ctx context.Context, o *old, rec *record.Record, base name.OID) error {
	// The previous checkpoint still has the files as it recorded them.
	if base == "" {
		gone := func(p record.Path) bool {
			return slices.ContainsFunc(o.files, func(q place) bool { return q.path == string(p) && r.plan.clean[q.entry.OID] == "" })
		}
		rec.Files.Drop(gone)
		return nil
	}
	changes, err := r.plan.s.Repo.Trees.Diff(ctx, base, rec.Snapshot.Tree)
	if err != nil {
		return err
	}
	rec.Files = create.FilesOf(changes)
	return nil
}
