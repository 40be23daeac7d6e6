package repair

// This file runs a rebuild and contains its first part, the journal. The journal is authoritative
// for which checkpoints there are, so it comes first. It has three other copies: this worktree's
// cache, the older tips that this worktree saw, and the remote-tracking journals.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// RebuildRequest is the input of Rebuild.
type RebuildRequest struct {
	Ref     string // one checkpoint; empty: whole sessions
	Session string // empty: the active or newest one
	All     bool   // all sessions
	Migrate bool   // also convert records of older formats
	// Agree asks whether rewritten checkpoints that were named may be adopted; an error means no. Nil:
	// nobody can be asked.
	Agree func([]Rewritten) error
}

// Mended is one thing that was repaired: the kind of the finding, its object, and what was done.
type Mended struct {
	Kind    proof.Kind `json:"kind"`
	Object  string     `json:"object"`
	Message string     `json:"message"`
}

// Rebuilt is one line of `rebuild`. It is about a checkpoint, or, with an empty id, about a
// session.
type Rebuilt struct {
	Checkpoint  name.ID              `json:"checkpoint"`
	Label       string               `json:"label"`
	Session     name.Session         `json:"session"`
	OK          bool                 `json:"ok"`           // nothing is wrong any more
	Mended      []Mended             `json:"mended"`       // what was repaired
	Rebuilt     name.ID              `json:"rebuilt"`      // the checkpoint that replaces it; empty: none
	RebuiltFrom name.ID              `json:"rebuilt_from"` // Checkpoint, if Rebuilt is set
	Missing     []string             `json:"missing"`      // the parts of it that could not be recovered
	Left        []checkpoint.Finding `json:"left"`         // what is still wrong
}

// rebuilding is the rebuild of one session.
type rebuilding struct {
	s       *checkpoint.Service
	req     RebuildRequest
	session name.Session
	only    name.ID // one checkpoint; empty: all
	p       *proof.Session
	known   inspect.Broken       // what the last validation found broken
	lines   map[name.ID]*Rebuilt // the lines so far; "" is the session's
	order   []name.ID            // of lines, in the order of output

	mapped    map[name.OID]name.OID // what git filter-repo made of each commit
	inArchive map[name.OID]bool     // see readArchive
	rewritten map[name.ID]name.OID  // the rewritten commits to adopt
}

// Rebuild regenerates what can be derived, and calls each with a line for every checkpoint that it
// repaired or could not repair.
func Rebuild(ctx context.Context, s *checkpoint.Service, req RebuildRequest, each func(Rebuilt) error) error {
	if err := removeBrokenRefs(ctx, s.Store); err != nil {
		return err
	}
	var sessions []name.Session
	var only name.ID
	if req.Ref != "" {
		session, id, err := provableRef(ctx, s.Sessions, req.Session, req.Ref)
		if err != nil {
			return err
		}
		sessions, only = []name.Session{session}, id
		// Only a deep validation finds lost files. For a single checkpoint it is quick enough, and
		// it adds what it finds to the list of broken checkpoints.
		deep := ValidateRequest{Ref: string(session) + ":" + string(id), Deep: true}
		if err := Validate(ctx, s.Sessions, deep, func(Validated) error { return nil }); err != nil {
			return err
		}
	} else {
		var err error
		if sessions, _, err = provable(ctx, s.Sessions, req.Session, req.All); err != nil {
			return err
		}
	}
	mapped, err := checkpoint.CommitMap(s.Repo)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		// What a shallow clone lacks is not lost, and must not be replaced by what can be proven.
		if _, err := s.Store.Log(ctx, session); errors.Is(err, git.ErrShallow) {
			return err
		}
		r := &rebuilding{
			s: s, req: req, session: session, only: only, known: inspect.ReadBroken(s.Repo, session), lines: map[name.ID]*Rebuilt{},
			mapped: mapped, rewritten: map[name.ID]name.OID{},
		}
		err := r.run(ctx)
		// Its only ref pointed at something else, and is gone now: there never was a session.
		if checkpoint.KindOf(err) == checkpoint.KindNotFound && len(r.order) > 0 {
			r.line("", "").OK, err = true, nil
		}
		if err != nil {
			return err
		}
		for _, id := range r.order {
			if err := each(*r.lines[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeBrokenRefs removes ref files without an object id. Git writes no ref while it has such a
// file, so nothing could be made again.
func removeBrokenRefs(ctx context.Context, s *store.Store) error {
	for _, a := range brokenRefFiles(s.Repo) {
		if a.Kind != brokenRef {
			continue // a symbolic ref may lead somewhere
		}
		if err := a.fix.do(ctx); err != nil {
			return err
		}
		s.Warn(a.Object + ": its file held no object id and was removed")
	}
	return nil
}

// line returns the line of a checkpoint, or of the session for "". It creates the line if
// necessary.
func (r *rebuilding) line(id name.ID, label string) *Rebuilt {
	l := r.lines[id]
	if l == nil {
		l = &Rebuilt{Checkpoint: id, Session: r.session, Mended: []Mended{}, Left: []checkpoint.Finding{}, Missing: []string{}}
		r.lines[id], r.order = l, append(r.order, id)
	}
	l.Label = cmp.Or(l.Label, label)
	return l
}

// mended adds a repair to the line.
func (l *Rebuilt) mended(f checkpoint.Finding, format string, args ...any) {
	l.Mended = append(l.Mended, Mended{f.Kind, f.Object, fmt.Sprintf(format, args...)})
}

// run repairs the journal first, because everything else is derived from it. Then it repairs refs,
// notes, tags and records, and finally validates everything again.
func (r *rebuilding) run(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	switch done, err := r.anew(ctx); {
	case err != nil:
		return err
	case done && len(r.order) > 0: // it goes on under another name
		for _, l := range r.lines {
			l.OK = true
		}
		return nil
	case done:
		return r.revalidate(ctx)
	}
	// The journal needs repair if it cannot be folded, if it has events of another session, or if this
	// worktree saw events that it does not have any more. For a single checkpoint only the first
	// matters.
	if r.p.State == nil || r.only == "" && (len(r.p.Lost) > 0 || len(r.p.State.Strangers()) > 0) {
		if err := r.journal(ctx); err != nil {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
	}
	// With a fold, or without any journal, the refs can be put in order. A journal that is still
	// broken must not be written to.
	if r.p.State != nil || r.p.Chain == nil {
		if err := r.derived(ctx); err != nil {
			return err
		}
		if err := r.archive(ctx); err != nil {
			return err
		}
	}
	return r.revalidate(ctx)
}

// open reads the session as it is now. It is called again after each change of the journal.
func (r *rebuilding) open(ctx context.Context) (err error) {
	r.p, err = OpenProof(ctx, r.s.Store, r.session, nil)
	return err
}

// derived repairs refs, notes, tags and missing events of checkpoints, and makes a new checkpoint
// beside one that cannot be repaired.
func (r *rebuilding) derived(ctx context.Context) error {
	w := &repairs{rebuilding: r}
	r.readArchive(ctx)
	err := r.p.Judge(ctx, r.subjects(), nil, func(v proof.Verdict) error { return w.planRepair(ctx, v) })
	if err != nil {
		return err
	}
	if err := w.adoptRewritten(ctx); err != nil {
		return err
	}
	return w.write(ctx)
}

// archive deletes an archive that cannot be read, once the checkpoints that it may hold have refs of
// their own. While one has none, the archive stays: its commit may be all that keeps it from gc.
func (r *rebuilding) archive(ctx context.Context) error {
	i := slices.IndexFunc(r.p.Findings, func(f checkpoint.Finding) bool { return f.Kind == proof.ArchiveUnreadable })
	if i < 0 || r.only != "" {
		return nil
	}
	found := r.p.Findings[i]
	if err := r.open(ctx); err != nil {
		return err
	}
	var loose []name.OID
	if r.p.State != nil {
		for _, e := range r.p.State.Checkpoints() {
			if !e.Dead && r.p.Refs[e.Checkpoint] == "" {
				loose = append(loose, e.Event().Commit)
			}
		}
	}
	lost, err := damaged(ctx, r.s.Repo, loose)
	if err != nil || len(lost) < len(loose) {
		return err
	}
	ref := name.ArchiveRef(r.session)
	at, err := r.s.Repo.Refs.ResolveAll(ctx, ref)
	if err != nil || at[ref] == "" {
		return err
	}
	if err := r.s.Repo.Refs.Update(ctx, []git.Update{{Ref: ref, Old: at[ref]}}); err != nil {
		return err
	}
	r.line("", "").mended(found, "the archive was deleted; it was at %s", at[ref])
	return nil
}

// subjects returns what is to be judged.
func (r *rebuilding) subjects() proof.Subjects {
	if r.only == "" {
		return r.p.Subjects()
	}
	if s, there := r.p.Subject(r.only); there {
		return proof.Given(s)
	}
	return proof.Given()
}

// revalidate validates the session after the rebuild. It puts what is still damaged into the lines, and
// updates the list of broken checkpoints, so that `list` no longer marks the repaired ones.
func (r *rebuilding) revalidate(ctx context.Context) error {
	for _, l := range r.lines {
		l.OK = true // unless a finding follows
	}
	// The same validation as the command `validate`, so both always agree.
	req := ValidateRequest{Session: string(r.session)}
	if r.only != "" {
		req.Ref = string(r.session) + ":" + string(r.only)
	}
	return Validate(ctx, r.s.Sessions, req, func(v Validated) error {
		// No line for a checkpoint that is whole and was not touched.
		if l := r.lines[v.Checkpoint]; v.OK && (l == nil || v.Checkpoint == "") {
			return nil
		}
		l := r.line(v.Checkpoint, v.Label)
		l.OK, l.Left = v.OK, v.Findings
		// What is still found was not repaired: a tag object, for example, belongs to the user and
		// stays.
		l.Mended = slices.DeleteFunc(l.Mended, func(m Mended) bool {
			return slices.ContainsFunc(v.Findings, func(f checkpoint.Finding) bool { return f.Kind == m.Kind && f.Object == m.Object })
		})
		if l.Rebuilt == "" && v.Checkpoint != "" { // nothing replaces a session
			l.Rebuilt = r.standIn(v.Checkpoint)
		}
		return nil
	})
}

// standIn returns the checkpoint that was rebuilt from id, or "".
func (r *rebuilding) standIn(id name.ID) name.ID {
	if e := standInOf(r.p.State, id); e != nil {
		return e.Checkpoint
	}
	return ""
}

// journal restores as much of the journal as can be proven. It writes remembered commits again. A
// journal that was rewound or deleted is set to where it was. If a part cannot be read, the newest
// whole part becomes the journal.
func (r *rebuilding) journal(ctx context.Context) error {
	l := r.line("", "")
	// First restore single commits: with luck the journal is whole then.
	if err := r.regenerate(ctx, l); err != nil {
		return err
	}
	tips := slices.Clone(r.p.Lost)
	if r.p.Chain != nil {
		tips = append(tips, r.p.Chain.Tip)
	}
	heads, err := r.sound(ctx, tips)
	// If nothing of it is whole here, continue with what the remotes' journals were when they were
	// last fetched.
	if err == nil && len(heads) == 0 {
		if tips, err = r.s.Store.TrackedJournals(ctx, r.session); err == nil {
			heads, err = r.sound(ctx, tips)
		}
	}
	if err != nil {
		return err
	}
	if err := r.goOnFrom(ctx, l, heads); err != nil {
		return err
	}
	return r.accept(ctx, l)
}

// accept forgets the journal tips that cannot be restored, after the report says so. Otherwise
// every later validation would report them again.
func (r *rebuilding) accept(ctx context.Context, l *Rebuilt) error {
	if err := r.open(ctx); err != nil || len(r.p.Lost) == 0 {
		return err
	}
	for _, tip := range r.p.Lost {
		l.Missing = append(l.Missing, "events up to "+tip.Short()+", which cannot be read")
	}
	return r.s.Store.Forget(r.session)
}

// sound returns the newest commits up to which the journals with these tips are whole.
func (r *rebuilding) sound(ctx context.Context, tips []name.OID) ([]name.OID, error) {
	var chains []*proof.Chain
	for _, tip := range tips {
		c, err := proof.ReadChain(ctx, r.s.Store, r.session, tip)
		if err != nil {
			return nil, err
		}
		chains = append(chains, c)
	}
	return proof.Sound(r.session, chains...), nil
}

// regenerate writes missing or garbled commits of the journal again from this worktree's cache. A
// commit's id is that of its content, so they are the same commits.
func (r *rebuilding) regenerate(ctx context.Context, l *Rebuilt) error {
	cached := r.s.Store.Cached(r.session)
	if cached == nil {
		return nil
	}
	oids := gather.List(cached.Nodes(), func(n journal.Node) name.OID { return n.OID })
	lost, err := damaged(ctx, r.s.Repo, oids)
	if err != nil {
		return err
	}
	made, err := r.s.Store.Regenerate(ctx, cached, lost)
	for _, oid := range made {
		l.mended(checkpoint.Finding{Kind: proof.JournalMissing, Object: string(oid)}, "commit %s of the journal was written again, byte for byte", oid.Short())
	}
	return err
}

// goOnFrom sets the journal's ref to the newest whole parts, joined as two clones would join them.
// If there are none it deletes the ref: the journal begins again with the checkpoints that have
// refs.
func (r *rebuilding) goOnFrom(ctx context.Context, l *Rebuilt, heads []name.OID) error {
	var old, tip name.OID
	if r.p.Chain != nil {
		old = r.p.Chain.Tip
	}
	// Several heads are joined by merge commits, like the journals of several clones.
	var joined *journal.Log
	for _, head := range heads {
		log, err := r.s.Store.LogAt(ctx, head, nil)
		if err == nil {
			joined, err = r.s.Store.Join(ctx, joined, log)
		}
		if err != nil {
			return err
		}
		tip = joined.Tip().OID
	}
	if tip == old {
		return nil
	}
	if err := r.s.Repo.Refs.Update(ctx, []git.Update{{Ref: name.JournalRef(r.session), New: tip, Old: old}}); err != nil {
		return err
	}
	f := checkpoint.Finding{Kind: proof.JournalRewound, Object: string(name.JournalRef(r.session))}
	switch {
	case old == "":
		f.Kind = proof.JournalDeleted
		l.mended(f, "the journal is back at %s", tip.Short())
	case tip == "":
		f.Kind = proof.JournalGarbled
		l.mended(f, "nothing of the journal can be read; it begins anew, and what it told beside the checkpoints is lost")
		l.Missing = append(l.Missing, "events before this rebuild")
	case r.p.Chain.State == nil || len(r.p.Chain.State.Strangers()) > 0:
		f.Kind = proof.JournalGarbled
		l.mended(f, "the journal goes on from %s, the newest part that is whole", tip.Short())
		l.Missing = append(l.Missing, "events after "+tip.Short())
	default:
		l.mended(f, "the journal is back at %s, which holds all that it had", tip.Short())
	}
	return nil
}
