package repair

// This file handles checkpoints whose commits a tool rewrote together with the history: git
// filter-repo, BFG, git filter-branch, git lfs migrate. Whoever can write to a shared remote could
// offer any content as "the rewritten one", with the same message and the same record. So one is
// adopted only if the map that git filter-repo left in this repository leads to it, or if a person
// named it and agreed.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/expunge"
)

// Rewritten is a checkpoint whose commit was rewritten, for the question whether to adopt it.
type Rewritten struct {
	Checkpoint name.ID      `json:"checkpoint"`
	Label      string       `json:"label"`
	Session    name.Session `json:"session"`
	Commit     name.OID     `json:"commit"`    // the one that the journal names; it is gone
	Rewritten  name.OID     `json:"rewritten"` // the one that is there now
	Differs    []string     `json:"differs"`   // how it differs from what its message and record say; empty: it does not
}

// rewrittenTo returns the commit that a rewrite of history put in place of a checkpoint's commit,
// or "".
func (r *rebuilding) rewrittenTo(v *proof.Verdict) name.OID {
	if v.Entry == nil {
		return ""
	}
	was := v.Entry.Event().Commit
	gone := slices.ContainsFunc(v.Findings, func(f checkpoint.Finding) bool { return f.Kind == proof.CommitMissing && f.Object == string(was) })
	moved := slices.ContainsFunc(v.Findings, func(f checkpoint.Finding) bool { return f.Kind == proof.RefMoved })
	switch {
	case gone && moved:
		return v.Ref
	// An archive that was rewritten lists commits that are gone, and leads to the rewritten ones.
	case gone && v.Ref == "" && r.inArchive[r.mapped[was]]:
		return r.mapped[was]
	}
	return ""
}

// readArchive finds the commits that an archive leads to but does not list.
func (r *rebuilding) readArchive(ctx context.Context) {
	r.inArchive = map[name.OID]bool{}
	if slices.ContainsFunc(r.p.Findings, func(f checkpoint.Finding) bool { return f.Kind == proof.ArchiveUnreadable }) {
		if c, err := r.s.Repo.Commits.Read(ctx, string(name.ArchiveRef(r.session))); err == nil {
			for _, parent := range c.Parents {
				r.inArchive[parent] = true
			}
		}
	}
}

// takeRewritten notes that a rewritten checkpoint is to be adopted, if it may be. It reports false
// if the checkpoint was not rewritten. One that may not be adopted stays as it is: what the old
// trees and notes still prove is what the rewrite was meant to remove.
func (w *repairs) takeRewritten(ctx context.Context, v *proof.Verdict) bool {
	to := w.rewrittenTo(v)
	if to == "" {
		return false
	}
	w.line(v.ID, v.Label)
	if w.mapped[v.Entry.Event().Commit] == to {
		w.rewritten[v.ID] = to
	} else if w.named() {
		w.unsure = append(w.unsure, w.differs(ctx, v, to))
	}
	return true
}

// named reports whether the user named a checkpoint or a session, and can be asked about it.
func (r *rebuilding) named() bool { return (r.only != "" || r.req.Session != "") && r.req.Agree != nil }

// differs compares a rewritten checkpoint with what its message, its record and the journal say, in the way of a
// validation. What git derives, or the rewrite took away with the history, is no difference.
func (r *rebuilding) differs(ctx context.Context, v *proof.Verdict, to name.OID) Rewritten {
	d := Rewritten{Checkpoint: v.ID, Label: v.Label, Session: r.session, Commit: v.Entry.Event().Commit, Rewritten: to, Differs: []string{}}
	say := func(format string, args ...any) { d.Differs = append(d.Differs, fmt.Sprintf(format, args...)) }
	err := r.p.Judge(ctx, proof.Given(proof.Subject{ID: v.ID, Ref: to}), nil, func(got proof.Verdict) error {
		for _, f := range got.Findings {
			if f.Kind == proof.TrailerMismatch || !proof.Restorable([]checkpoint.Finding{f}) {
				say("%s", f.Message)
			}
		}
		if got.Record == nil {
			return nil
		}
		if got.Record.Checksum != v.Entry.Event().Record {
			say("its record is not the one that the journal names")
		}
		r.differingFiles(ctx, got.Record, got.Parts.Commit.Tree, say)
		return nil
	})
	if err != nil {
		say("it cannot be read: %v", err)
	}
	return d
}

// differingFiles says which files differ from those that the record names, as far as that is still
// known: from the old tree, or else from the paths in the record.
func (r *rebuilding) differingFiles(ctx context.Context, rec *record.Record, tree name.OID, say func(string, ...any)) {
	const mostNamed = 10 // how many files of a rewritten checkpoint a question names
	var paths []string
	if changes, err := r.s.Repo.Trees.Diff(ctx, rec.Snapshot.Tree, tree); err == nil {
		paths = append(paths, gather.List(changes, func(c git.Change) string { return c.Path })...)
	} else {
		for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified) {
			if _, found, err := r.s.Repo.Trees.Lookup(ctx, tree, string(p)); err == nil && !found {
				paths = append(paths, string(p))
			}
		}
	}
	for _, p := range paths[:min(len(paths), mostNamed)] {
		say("%s is another file now, or gone", name.Quoted(p))
	}
	if more := len(paths) - mostNamed; more > 0 {
		say("so are %d more", more)
	}
}

// adoptRewritten makes checkpoints of the rewritten commits, and frees the tags that were rewritten
// with them.
func (w *repairs) adoptRewritten(ctx context.Context) error {
	if len(w.unsure) > 0 {
		if err := w.req.Agree(w.unsure); err != nil {
			return err
		}
	}
	for _, d := range w.unsure {
		w.rewritten[d.Checkpoint] = d.Rewritten
	}
	if len(w.rewritten) == 0 {
		return nil
	}
	if err := w.freeTags(ctx); err != nil {
		return err
	}
	done, err := expunge.Adopt(ctx, w.s, expunge.Adoption{Session: w.session, As: w.session, From: w.rewritten})
	if err != nil {
		return err
	}
	w.adoptedAs(done)
	w.retag = true
	return w.open(ctx)
}

// adoptedAs puts what was adopted into the lines.
func (r *rebuilding) adoptedAs(done []expunge.Rewritten) {
	for _, d := range done {
		l := r.line(d.ID, d.Label)
		l.Rebuilt, l.RebuiltFrom = d.Rebuilt, d.ID
		if to := r.rewritten[d.ID]; to != "" {
			l.mended(checkpoint.Finding{Kind: proof.RefMoved, Object: string(name.CheckpointRef(r.session, d.ID))}, "history was rewritten: what is now %s was adopted", to.Short())
		} else {
			l.mended(checkpoint.Finding{Kind: proof.EventMismatch, Object: string(d.ID)}, "it was written again, so that it stays behind the adopted ones")
		}
	}
}

// removeSession deletes the refs of a session that goes on under another name, as far as they lead to
// what was adopted.
func (r *rebuilding) removeSession(ctx context.Context, adopted map[name.ID]name.OID) error {
	var gone []git.Update
	refs, err := r.s.Repo.Refs.List(ctx, name.CheckpointRoot+string(r.session)+"/", name.TrackingRoot)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		session, leaf, ok := name.SplitCheckpointRef(ref.Ref)
		ours := ok && session == r.session && (leaf == "journal" || adopted[name.ID(leaf)] != "")
		tracks := strings.HasPrefix(string(ref.Ref), name.TrackingRoot) && strings.HasSuffix(string(ref.Ref), "/"+string(r.session)+"/journal")
		if ours || tracks {
			gone = append(gone, git.Update{Ref: ref.Ref, Old: ref.OID})
		}
	}
	made := slices.Collect(maps.Values(adopted))
	for _, tag := range r.p.Tags {
		if slices.Contains(made, tag.OID) {
			gone = append(gone, git.Update{Ref: tag.Ref, Old: tag.OID})
		}
	}
	if err := r.s.Repo.Refs.Update(ctx, gone); err != nil {
		return fmt.Errorf("remove the rewritten session %s: %w", r.session, err)
	}
	return r.s.Store.Forget(r.session)
}
