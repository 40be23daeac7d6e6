package repair

// This file handles a journal that a tool rewrote together with the history. Joined with the journal
// of a clone, it would bring back what the rewrite took out. So the session goes on under another name.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/expunge"
)

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
