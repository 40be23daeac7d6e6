package repair

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
)

// Migration says whether a rebuild also brings records of older formats up to date.
type Migration int

// The choices.
const (
	MigrateNot Migration = iota
	MigrateOld
)

// RebuildRequest is what `rebuild` was asked for.
type RebuildRequest struct {
	Ref     string
	Session string
	All     bool
	Migrate Migration
}

// Mended is one thing that was made again.
type Mended struct {
	Kind    proof.Kind `json:"kind"`
	Object  string     `json:"object"`
	Message string     `json:"message"`
}

// Rebuilt is one line of `rebuild`: a checkpoint, or, with an empty id, a session.
type Rebuilt struct {
	Checkpoint  name.ID              `json:"checkpoint"`
	Label       string               `json:"label"`
	Session     name.Session         `json:"session"`
	OK          bool                 `json:"ok"` // nothing is left that is wrong
	Mended      []Mended             `json:"mended"`
	Rebuilt     name.ID              `json:"rebuilt"` // what stands in for it now
	RebuiltFrom name.ID              `json:"rebuilt_from"`
	Missing     []string             `json:"missing"` // what could not be proven of that
	Left        []checkpoint.Finding `json:"left"`
}

// rebuilding is one rebuild of a session.
type rebuilding struct {
	s       *checkpoint.Service
	req     RebuildRequest
	session name.Session
	only    name.ID // empty: all
	p       *proof.Session
	known   inspect.Broken // what the last validation found
	lines   map[name.ID]*Rebuilt
	order   []name.ID
}

// Rebuild makes again what can be derived, and says what it did and what it could not.
func Rebuild(ctx context.Context, s *checkpoint.Service, req RebuildRequest, each func(Rebuilt) error) error {
	var sessions []name.Session
	var only name.ID
	if req.Ref != "" {
		session, id, err := provableRef(ctx, s, req.Session, req.Ref)
		if err != nil {
			return checkpoint.Classify(err)
		}
		sessions, only = []name.Session{session}, id
	} else {
		var err error
		if sessions, _, err = provable(ctx, s, req.Session, req.All); err != nil {
			return checkpoint.Classify(err)
		}
	}
	for _, session := range sessions {
		r := &rebuilding{s: s, req: req, session: session, only: only, known: inspect.ReadBroken(s, session), lines: map[name.ID]*Rebuilt{}}
		if err := r.run(ctx); err != nil {
			return checkpoint.Classify(err)
		}
		for _, id := range r.order {
			if err := each(*r.lines[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// line is what will be said of a checkpoint; "" stands for the session.
func (r *rebuilding) line(id name.ID, label string) *Rebuilt {
	l := r.lines[id]
	if l == nil {
		l = &Rebuilt{Checkpoint: id, Session: r.session, Mended: []Mended{}, Left: []checkpoint.Finding{}, Missing: []string{}}
		r.lines[id], r.order = l, append(r.order, id)
	}
	if l.Label == "" {
		l.Label = label
	}
	return l
}

func (l *Rebuilt) mended(f checkpoint.Finding, format string, args ...any) {
	l.Mended = append(l.Mended, Mended{f.Kind, f.Object, fmt.Sprintf(format, args...)})
}

// run mends the journal, then what hangs on it, and looks at everything again.
func (r *rebuilding) run(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.p.State == nil || r.only == "" && len(r.p.Lost) > 0 {
		if err := r.journal(ctx); err != nil {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
	}
	if r.p.State != nil || r.p.Chain == nil {
		if err := r.derived(ctx); err != nil {
			return err
		}
	}
	return r.again(ctx)
}

// open reads the session as it is now.
func (r *rebuilding) open(ctx context.Context) (err error) {
	r.p, err = OpenProof(ctx, r.s, r.session, nil)
	return err
}

// derived mends refs, notes, tags and events of checkpoints, and lets others stand in for
// those that cannot be mended.
func (r *rebuilding) derived(ctx context.Context) error {
	w := &repairs{rebuilding: r}
	if err := w.tell(); err != nil {
		return err
	}
	err := r.p.Judge(ctx, r.subjects(), nil, func(v proof.Verdict) error { return w.take(ctx, v) })
	if err != nil {
		return err
	}
	return w.write(ctx)
}

func (r *rebuilding) subjects() proof.Subjects {
	if r.only == "" {
		return r.p.Subjects()
	}
	if s, there := r.p.Subject(r.only); there {
		return proof.Given(s)
	}
	return proof.Given()
}

// again validates what was rebuilt: what is left is said, and list no longer marks what
// is whole.
func (r *rebuilding) again(ctx context.Context) error {
	for _, l := range r.lines {
		l.OK = true // but for what is found now
	}
	req := ValidateRequest{Session: string(r.session)}
	if r.only != "" {
		req.Ref = string(r.session) + ":" + string(r.only)
	}
	return Validate(ctx, r.s, req, func(v Validated) error {
		if l := r.lines[v.Checkpoint]; v.OK && (l == nil || v.Checkpoint == "") {
			return nil
		}
		l := r.line(v.Checkpoint, v.Label)
		l.OK, l.Left = v.OK, v.Findings
		if l.Rebuilt == "" {
			l.Rebuilt = r.standIn(v.Checkpoint)
		}
		return nil
	})
}

// standIn is the checkpoint that was rebuilt from another one before.
func (r *rebuilding) standIn(id name.ID) name.ID {
	if r.p.State == nil {
		return ""
	}
	for _, e := range r.p.State.Checkpoints() {
		if e.Event().RebuiltFrom == id && !e.Dead {
			return e.Checkpoint
		}
	}
	return ""
}

// journal brings back what can be proven of a journal: commits that are remembered are
// written again, a journal that was set back or deleted goes on from where it was, and
// below what cannot be read the newest whole part is gone on from.
func (r *rebuilding) journal(ctx context.Context) error {
	l := r.line("", "")
	if err := r.regenerate(ctx, l); err != nil {
		return err
	}
	chains, err := r.chains(ctx)
	if err != nil {
		return err
	}
	heads := proof.Sound(chains...)
	if len(heads) == 0 {
		tracked, err := r.s.Store.TrackedJournals(ctx, r.session)
		if err != nil {
			return err
		}
		for _, tip := range tracked {
			chain, err := proof.ReadChain(ctx, r.s.Store, tip)
			if err != nil {
				return err
			}
			heads = append(heads, proof.Sound(chain)...)
		}
	}
	if err := r.goOnFrom(ctx, l, heads); err != nil {
		return err
	}
	return r.accept(ctx, l)
}

// accept forgets the tips that cannot be brought back, once it is said that they cannot.
func (r *rebuilding) accept(ctx context.Context, l *Rebuilt) error {
	if err := r.open(ctx); err != nil || len(r.p.Lost) == 0 {
		return err
	}
	for _, tip := range r.p.Lost {
		l.Missing = append(l.Missing, "events up to "+tip.Short()+", which cannot be read")
	}
	return r.s.Store.Forget(r.session)
}

// chains are the journal and what it was before.
func (r *rebuilding) chains(ctx context.Context) ([]*proof.Chain, error) {
	tips := slices.Clone(r.p.Lost)
	if r.p.Chain != nil {
		tips = append(tips, r.p.Chain.Tip)
	}
	var chains []*proof.Chain
	for _, tip := range tips {
		c, err := proof.ReadChain(ctx, r.s.Store, tip)
		if err != nil {
			return nil, err
		}
		chains = append(chains, c)
	}
	return chains, nil
}

// regenerate writes commits of the journal again that this worktree remembers.
func (r *rebuilding) regenerate(ctx context.Context, l *Rebuilt) error {
	cached := r.s.Store.Cached(r.session)
	if cached == nil {
		return nil
	}
	lost := map[name.OID]bool{}
	all := cached.Nodes()
	oids := make([]string, len(all))
	for i, n := range all {
		oids[i] = string(n.OID)
	}
	if err := prove(ctx, r.s, oids, func(oid name.OID) { lost[oid] = true }); err != nil {
		return err
	}
	if len(lost) == 0 {
		return nil
	}
	made, err := r.s.Store.Regenerate(ctx, cached, lost)
	for _, oid := range made {
		l.mended(checkpoint.Finding{Kind: proof.JournalMissing, Object: string(oid)}, "commit %s of the journal was written again, byte for byte", oid.Short())
	}
	return err
}

// goOnFrom puts the journal where everything holds: at the join of the newest whole
// parts. Where there is none the ref is taken away, and the journal begins anew with
// what the refs prove.
func (r *rebuilding) goOnFrom(ctx context.Context, l *Rebuilt, heads []name.OID) error {
	var old, tip name.OID
	if r.p.Chain != nil {
		old = r.p.Chain.Tip
	}
	if len(heads) > 0 {
		joined, err := r.s.Store.LogAt(ctx, heads[0], nil)
		for _, head := range heads[1:] {
			if err != nil {
				return err
			}
			other, otherErr := r.s.Store.LogAt(ctx, head, nil)
			if otherErr != nil {
				return otherErr
			}
			joined, err = r.s.Store.Join(ctx, joined, other)
		}
		if err != nil {
			return err
		}
		tip = joined.Tip().OID
	}
	if tip == old {
		return nil
	}
	if err := moveRef(ctx, r.s, name.JournalRef(r.session), tip, old); err != nil {
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
	case r.p.Chain.State == nil:
		f.Kind = proof.JournalGarbled
		l.mended(f, "the journal goes on from %s, the newest part that is whole", tip.Short())
		l.Missing = append(l.Missing, "events after "+tip.Short())
	default:
		l.mended(f, "the journal is back at %s, which holds all that it had", tip.Short())
	}
	return nil
}
