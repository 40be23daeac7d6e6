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
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
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

// A journal that a tool rewrote together with the history, joined with the journal of a clone, would bring back
// what the rewrite took out. So the session goes on under another name.

// rewrittenJournal is a journal that was rewritten.
type rewrittenJournal struct {
	state   *journal.State       // what it says, or what this worktree knows of the one before
	mapped  bool                 // the map of git filter-repo leads from the one before to it
	from    map[name.ID]name.OID // what may be adopted
	unsure  map[name.ID]name.OID // what somebody has to look at first
	differs []Rewritten          // of unsure
}

// anew begins a session again if its journal was rewritten, and reports whether it was.
func (r *rebuilding) anew(ctx context.Context) (bool, error) {
	j, err := r.readRewritten(ctx)
	if j == nil || err != nil {
		return false, err
	}
	// If commits from before the rewrite are still here, the journal is restored from them instead.
	if heads, err := r.sound(ctx, r.p.Lost); err != nil || len(heads) > 0 {
		if err == nil && j.mapped {
			err = r.goOnFrom(ctx, r.line("", ""), heads)
		}
		return false, err
	}
	if len(j.unsure) > 0 && r.named() {
		if err := r.req.Agree(j.differs); err != nil {
			return true, err
		}
		j.mapped = true
		for id, to := range j.unsure {
			j.from[id] = to
		}
	}
	if !j.mapped {
		r.s.Store.Warn(fmt.Sprintf("the journal of session %s was rewritten together with the history; `git checkpoint rebuild --session %s` shows what became of its checkpoints, and lets the session go on under another name", r.session, r.session))
		return true, nil
	}
	return true, r.goOnAs(ctx, j)
}

// readRewritten returns the session's journal if a tool rewrote it, and else nil.
func (r *rebuilding) readRewritten(ctx context.Context) (*rewrittenJournal, error) {
	if r.p.Chain == nil || r.p.State != nil && len(r.p.Lost) == 0 {
		return nil, nil
	}
	j := &rewrittenJournal{from: map[name.ID]name.OID{}, unsure: map[name.ID]name.OID{}}
	for _, was := range r.p.Lost {
		now := r.mapped[was]
		j.mapped = j.mapped || now != "" && now != was && (now == r.p.Chain.Tip || r.p.Chain.Has(now))
	}
	j.state = r.loosely(ctx)
	known := j.state
	if cached := r.s.Store.Cached(r.session); cached != nil && !cached.Contains(r.p.Chain.Tip) {
		known = cached.Fold()
	}
	if j.state == nil {
		j.state = known
	}
	if j.state == nil {
		return nil, nil
	}
	r.follow(ctx, j, known)
	// A journal that was forged or set back is repaired in another way.
	if !j.mapped && len(j.unsure) == 0 {
		return nil, nil
	}
	return j, ctx.Err()
}

// follow finds out what became of each checkpoint. known has the events as they were, where they are
// still known.
func (r *rebuilding) follow(ctx context.Context, j *rewrittenJournal, known *journal.State) {
	for _, e := range j.state.Checkpoints() {
		was := known.Entry(e.Checkpoint)
		if was == nil {
			was = e
		}
		to, commit := r.p.Refs[e.Checkpoint], was.Event().Commit
		switch {
		case e.Dead || to == "":
		case r.mapped[commit] == to || to == commit && j.mapped:
			j.from[e.Checkpoint] = to
		// A tool may also have put the new ids into the journal.
		case to == commit || checkpoint.RewrittenTo(ctx, r.s.Repo, r.session, was) == to:
			d := r.differs(ctx, &proof.Verdict{Subject: proof.Subject{ID: e.Checkpoint, Entry: was}, Label: e.Label}, to)
			if to == commit && len(d.Differs) == 0 {
				j.from[e.Checkpoint] = to
				continue
			}
			j.unsure[e.Checkpoint], j.differs = to, append(j.differs, d)
		}
	}
}

// loosely returns the fold of the rewritten journal, whatever tree its commits have now: git lfs
// migrate puts a file into each. It returns nil if it cannot be read even so.
func (r *rebuilding) loosely(ctx context.Context) *journal.State {
	var nodes []journal.Node
	met := map[name.OID]bool{r.p.Chain.Tip: true}
	err := r.s.Repo.Objects.Batch().Follow(ctx, r.p.Chain.Tip, journal.MaxMessage+1<<20, func(oid name.OID, o git.Object, err error) ([]name.OID, error) {
		n, err := store.NodeOfAnyTree(oid, o, err)
		nodes = append(nodes, n)
		var next []name.OID
		for _, p := range n.Parents {
			if !met[p] && len(met) < journal.MaxNodes {
				met[p] = true
				next = append(next, p)
			}
		}
		return next, err
	})
	if err != nil {
		return nil
	}
	log, err := journal.NewLog(nodes, r.p.Chain.Tip)
	if err != nil {
		return nil
	}
	st := log.Fold()
	if st.Session != r.session {
		return nil
	}
	return st
}

// goOnAs lets the session go on under another name, with the checkpoints that may be adopted. Each
// step can be repeated after a kill.
func (r *rebuilding) goOnAs(ctx context.Context, j *rewrittenJournal) error {
	list, err := clearance.ReadExpunged(r.s.Repo)
	if err != nil {
		return err
	}
	as := list.Anew[r.session]
	if as == "" {
		if as, err = r.freeName(ctx); err != nil {
			return err
		}
		if err := list.BeginAnew(r.session, as); err != nil {
			return err
		}
	}
	r.rewritten = j.from
	// An earlier rebuild was killed after this step.
	if _, err := r.s.Store.State(ctx, as); err != nil {
		done, err := expunge.Adopt(ctx, r.s, expunge.Adoption{Session: r.session, As: as, From: j.from, State: j.state})
		if err != nil {
			return err
		}
		r.adoptedAs(done)
	}
	active, err := r.s.Store.ActiveSession()
	if err == nil && active == r.session {
		err = checkpoint.Choose(r.s, as)
	}
	if err != nil {
		return err
	}
	l := r.line("", "")
	l.mended(checkpoint.Finding{Kind: proof.JournalReplaced, Object: string(name.JournalRef(r.session))}, "its journal was rewritten with the history, so it goes on as session %s", as)
	return r.removeSession(ctx, j.from)
}

// freeName returns a name for the session that goes on: its own with a number.
func (r *rebuilding) freeName(ctx context.Context) (name.Session, error) {
	taken, err := r.s.Store.Sessions(ctx)
	if err != nil {
		return "", err
	}
	for n := 2; ; n++ {
		text := fmt.Sprintf("%.60s-%d", r.session, n)
		as, err := name.ParseSession(text)
		if err != nil || !slices.ContainsFunc(taken, func(other name.Session) bool { return strings.EqualFold(string(other), string(as)) }) {
			return as, err
		}
	}
}
