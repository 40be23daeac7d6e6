package travel

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/expunge"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// Fetch brings what others saved, and joins it with what is here. The answer is there
// beside an error too.
func Fetch(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	if _, err := t.fetch(ctx); err != nil {
		return t.answer, err
	}
	return t.answer, t.verdict()
}

// Sync fetches, then pushes.
func Sync(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	if err := s.RefuseHalfRolledBack(); err != nil {
		return nil, err
	}
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	there, err := t.fetch(ctx)
	if err != nil {
		return t.answer, err
	}
	if err := t.push(ctx, there); err != nil {
		return t.answer, err
	}
	return t.answer, t.verdict()
}

// listings is how often the remote is read anew when a ref of the listing is gone by
// the time that it is fetched.
const listings = 3

// fetch gives the remote as it was read.
func (t *trip) fetch(ctx context.Context) (*remote.Listing, error) {
	for try := 1; ; try++ {
		here, there, err := t.both(ctx)
		if err != nil {
			return nil, err
		}
		digest := "fetch " + here.Digest() + " " + there.Digest()
		if t.memory.settled(digest) && t.answer != nil {
			return there, t.memory.synced(t.s, digest)
		}
		if len(there.Sessions) == 0 && len(t.sessions) > 0 && len(here.Sessions) == 0 {
			return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: "no such session, here or at " + t.answer.Remote + ": " + joinNames(t.sessions)}
		}
		t.again = false
		err = t.bring(ctx, here, there)
		var said *remote.Error
		if errors.As(err, &said) && strings.Contains(said.Text, "couldn't find remote ref") && try < listings {
			continue
		}
		if err != nil {
			return nil, unreachable(err)
		}
		if t.again && try < checkpoint.Attempts {
			continue
		}
		return there, t.fetched(ctx, there)
	}
}

func joinNames(sessions []name.Session) string {
	var words []string
	for _, s := range sessions {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// bring fetches what is missing and joins it, session by session.
func (t *trip) bring(ctx context.Context, here, there *remote.Listing) error {
	if err := remote.Sweep(ctx, t.s.Repo, t.s.Now(), IncomingAge); err != nil {
		t.s.Warn(err.Error())
	}
	var want []name.Ref
	for _, session := range there.Names() {
		refs, err := t.missing(ctx, session, here.Session(session), there.Session(session))
		if err != nil {
			return err
		}
		want = append(want, refs...)
	}
	var q *remote.Quarantine
	if len(want) > 0 {
		var err error
		if q, err = t.bringWhole(ctx, want, there); err != nil {
			return err
		}
		defer q.Close(ctx)
		t.s.Trace("fetched")
		if err := t.completeRecords(ctx, q); err != nil {
			return err
		}
	}
	for _, session := range t.either(here, there) {
		if err := t.unite(ctx, session, here.Session(session), there.Session(session), q); err != nil {
			return err
		}
		t.s.Trace("united")
	}
	if err := t.bringBack(ctx, there); err != nil {
		return err
	}
	if err := t.repeatTombstones(ctx); err != nil {
		return err
	}
	again, err := expunge.Again(ctx, t.s)
	for _, r := range again {
		t.line("fetch", name.CheckpointRef(r.Session, r.ID), OutcomeDeleted, "it held what was expunged")
		t.line("fetch", name.CheckpointRef(r.Session, r.Rebuilt), OutcomeCreated, r.Label)
	}
	return err
}

// bringBack fetches what was dead before the journals were joined, and is not any more:
// somebody had pinned it.
func (t *trip) bringBack(ctx context.Context, there *remote.Listing) error {
	skipped := t.skipped
	if t.skipped = nil; len(skipped) == 0 {
		return nil
	}
	back := remote.NewListing()
	for ref, oid := range skipped {
		session, leaf, _ := name.SplitCheckpointRef(ref)
		st, err := t.s.Store.State(ctx, session)
		if err == nil && !st.Dead(name.ID(leaf)) {
			back.Add(ref, oid)
		}
	}
	if len(back.Sessions) == 0 {
		return nil
	}
	here, err := t.here(ctx)
	if err != nil {
		return err
	}
	for session, of := range back.Sessions {
		of.Journal = there.Session(session).Journal
	}
	here.Keep(back.Names())
	return t.bring(ctx, here, back)
}

// either names every session that is here or there.
func (t *trip) either(here, there *remote.Listing) []name.Session {
	all := map[name.Session]bool{}
	for _, l := range []*remote.Listing{here, there} {
		for _, s := range l.Names() {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// missing lists the refs of a session that have to be fetched: its journal unless ours
// holds it, and the checkpoints that are not here and not dead.
func (t *trip) missing(ctx context.Context, session name.Session, here, there *remote.Session) ([]name.Ref, error) {
	var want []name.Ref
	var mine *Joined
	if here.Journal != "" && here.Journal != there.Journal {
		var err error
		if mine, err = JournalOf(ctx, t.s, session); err != nil && excuse(err) == nil {
			return nil, err
		}
	}
	ours := here.Held()
	if there.Journal != "" && there.Journal != here.Journal && (mine == nil || !mine.log.Contains(there.Journal)) {
		want = append(want, name.JournalRef(session))
	}
	if t.wantsArchive(ctx, session, here, there) {
		want = append(want, name.ArchiveRef(session))
	}
	for _, id := range slices.Sorted(maps.Keys(there.Checkpoints)) {
		if ours[id] != "" {
			continue
		}
		if mine == nil && here.Journal != "" {
			var err error
			if mine, err = JournalOf(ctx, t.s, session); err != nil && excuse(err) == nil {
				return nil, err
			}
		}
		ref := name.CheckpointRef(session, id)
		if st := mine.Fold(); st == nil || !st.Dead(id) {
			want = append(want, ref)
			continue
		}
		if t.skipped == nil {
			t.skipped = map[name.Ref]name.OID{}
		}
		t.skipped[ref] = there.Checkpoints[id]
	}
	return want, nil
}

// unite joins one session; what is wrong with it stops none of the others.
func (t *trip) unite(ctx context.Context, session name.Session, here, there *remote.Session, q *remote.Quarantine) error {
	u := &union{t: t, session: session, tip: there.Journal, came: map[name.ID]name.OID{}, there: maps.Clone(there.Checkpoints)}
	if q != nil {
		if tip := q.Got[name.JournalRef(session)]; tip != "" {
			u.tip = tip
		}
		for id := range there.Checkpoints {
			if got := q.Got[name.CheckpointRef(session, id)]; got != "" {
				u.came[id], u.there[id] = got, got
			}
		}
		t.unpackArchive(ctx, session, there, q)
	}
	u.unfold(there, here.Held())
	err := u.run(ctx)
	if why := excuse(err); why != nil {
		t.again = t.again || checkpoint.Vanished(err)
		t.line("fetch", name.JournalRef(session), OutcomeRejected, why.Error())
		return nil
	}
	return err
}

// completeRecords brings the records of a partial clone in one go: read one by one,
// each would be a connection of its own.
func (t *trip) completeRecords(ctx context.Context, q *remote.Quarantine) error {
	if _, partial := t.s.Repo.Config.Get("extensions.partialClone"); !partial {
		if promisor, err := t.s.Repo.Config.Bool("remote."+t.remote.Name+".promisor", false); err != nil || !promisor {
			return err
		}
	}
	var commits []name.OID
	for ref, oid := range q.Got {
		session, leaf, ok := name.SplitCheckpointRef(ref)
		if ok && leaf == "archive" {
			if members, err := t.s.Store.CheckArchive(ctx, session, oid); err == nil {
				commits = slices.AppendSeq(commits, maps.Values(members))
			}
		} else if _, err := name.ParseID(leaf); ok && err == nil {
			commits = append(commits, oid)
		}
	}
	var blobs []name.OID
	for _, oid := range commits {
		m, err := t.s.Store.RecordCommit(ctx, oid)
		if err != nil {
			continue // it is refused when it is looked at
		}
		c, err := t.s.Repo.ReadCommit(ctx, string(m))
		if err != nil {
			continue
		}
		if e, ok, err := t.s.Repo.Lookup(ctx, c.Tree, "checkpoint.json"); err == nil && ok && e.Mode == git.ModeFile {
			blobs = append(blobs, e.OID)
		}
	}
	return t.remote.BringObjects(ctx, blobs)
}

// fetched remembers the journals as the remote has them.
func (t *trip) fetched(ctx context.Context, there *remote.Listing) error {
	tips := map[name.Session]name.OID{}
	for session, at := range there.Sessions {
		if at.Journal != "" && !t.refused(name.JournalRef(session)) && Exists(ctx, t.s, at.Journal) {
			tips[session] = at.Journal
		}
	}
	if err := t.track(ctx, tips); err != nil {
		return err
	}
	digest := ""
	if t.verdict() == nil {
		here, err := t.here(ctx)
		if err != nil {
			return err
		}
		digest = "fetch " + here.Digest() + " " + there.Digest()
	}
	return t.memory.synced(t.s, digest)
}
