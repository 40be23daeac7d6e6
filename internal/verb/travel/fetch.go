package travel

// A fetch lists both sides, brings the missing refs of all sessions into a quarantine with one git
// fetch, and then joins session by session (unite.go). The refs of the quarantine are deleted at
// the end; by then the objects are reachable from real refs, or are not needed.

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/verb/expunge"
)

// Fetch brings what other clones pushed and joins it with what is here. The answer is also returned
// with an error.
func Fetch(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	return run(s, req, func(t *transfer) error {
		_, err := t.fetch(ctx)
		return err
	})
}

// Sync fetches and then pushes, with a single listing of the remote where possible. It refuses to
// run while a rollback is half done.
func Sync(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	if err := checkpoint.RefuseHalfRolledBack(s.Repo); err != nil {
		return nil, err
	}
	return run(s, req, func(t *transfer) error {
		there, err := t.fetch(ctx)
		if err != nil {
			return err
		}
		if t.hasOld { // the push has to see it, too
			there = nil
		}
		return t.push(ctx, there)
	})
}

// fetch brings and joins everything that the request covers, and returns the listing of the remote
// on which it worked. It starts again when a listed ref has vanished or a gc deleted what came.
func (t *transfer) fetch(ctx context.Context) (*remote.Listing, error) {
	const listings = 3                               // bounds how often the remote is listed again because a listed ref was deleted before it could be fetched
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // what others made may be large, and lives only while it is checked
	t.verb = "fetch"
	for try := 1; ; try++ {
		here, there, err := t.both(ctx)
		if err != nil {
			return nil, err
		}
		digest := "fetch " + here.Digest() + " " + there.Digest()
		// This pair of listings was seen before, after a transfer that left nothing to do.
		if t.memory.settled(digest) {
			return there, t.memory.synced(t.s.Store, digest)
		}
		if len(there.Sessions) == 0 && len(t.sessions) > 0 && len(here.Sessions) == 0 {
			return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "no such session, here or at %s: %s", t.answer.Remote, strings.Join(t.req.Sessions, ", "))
		}
		t.again = false
		err = t.bring(ctx, here, there)
		if said, is := errors.AsType[*remote.Error](err); is && strings.Contains(said.Text, "couldn't find remote ref") && try < listings {
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

// bring fetches the missing refs into a quarantine and joins them, session by session. Afterwards
// it applies the consequences of the merged journals: repeatTombstones, and expunge.Again, which
// rewrites checkpoints made here that hold what another clone expunged.
func (t *transfer) bring(ctx context.Context, here, there *remote.Listing) error {
	if err := remote.Sweep(ctx, t.s.Repo.Refs, t.s.Store.Now()); err != nil {
		t.s.Store.Warn(err.Error())
	}
	var want, dead []name.Ref
	for _, session := range there.Names() {
		refs, skipped, err := t.missing(ctx, session, here.Session(session), there.Session(session))
		if err != nil {
			return err
		}
		want, dead = append(want, refs...), append(dead, skipped...)
	}
	q, err := t.bringWhole(ctx, want, there)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	t.s.Trace("fetched")
	if err := t.completeRecords(ctx, q); err != nil {
		return err
	}
	for _, session := range either(here, there) {
		if err := t.unite(ctx, session, here.Session(session), there.Session(session), q); err != nil {
			return err
		}
		t.s.Trace("united")
	}
	if err := t.repeatTombstones(ctx); err != nil {
		return err
	}
	// One that was dead in the journal here may be alive in the merged one: another clone had pinned it, and a
	// tombstone that does not know a pin is void.
	t.again = t.again || slices.ContainsFunc(dead, func(ref name.Ref) bool {
		session, leaf, _ := name.SplitCheckpointRef(ref)
		st, err := t.s.Store.State(ctx, session)
		return err == nil && !st.Dead(name.ID(leaf))
	})
	defer checkpoint.SweepOutside(ctx, t.s.Rules)
	again, err := expunge.Repeat(ctx, t.s)
	for _, r := range again {
		t.line(name.CheckpointRef(r.Session, r.ID), OutcomeDeleted, "it held what was expunged")
		t.line(name.CheckpointRef(r.Session, r.Rebuilt), OutcomeCreated, r.Label)
	}
	return err
}

// either returns the sessions that exist here or at the remote, sorted.
func either(here, there *remote.Listing) []name.Session {
	all := maps.Clone(here.Sessions)
	maps.Copy(all, there.Sessions)
	return slices.Sorted(maps.Keys(all))
}

// missing returns the refs of a session that have to be fetched: the journal, unless ours contains
// it; the archive, if it holds anything that is missing here; and the checkpoints that are neither
// here nor dead. It also returns the dead ones.
func (t *transfer) missing(ctx context.Context, session name.Session, here, there *remote.Session) (want, dead []name.Ref, err error) {
	var mine *Joined
	ours := here.Held()
	lacking := slices.DeleteFunc(slices.Sorted(maps.Keys(there.Checkpoints)), func(id name.ID) bool { return ours[id] != "" })
	if here.Journal != "" && (here.Journal != there.Journal || len(lacking) > 0) {
		if mine, err = t.journalHere(ctx, session, here.Journal); err != nil && !excused(err) {
			return nil, nil, err
		}
	}
	if there.Journal != "" && there.Journal != here.Journal && (mine == nil || !mine.log.Contains(there.Journal)) {
		want = append(want, name.JournalRef(session))
	}
	if t.wantsArchive(ctx, session, here, there) {
		want = append(want, name.ArchiveRef(session))
	}
	for _, id := range lacking {
		ref := name.CheckpointRef(session, id)
		if st := mine.Fold(); st == nil || !st.Dead(id) {
			want = append(want, ref)
		} else {
			dead = append(dead, ref)
		}
	}
	return want, dead, nil
}

// unite joins one session. A damaged or read-only session becomes a rejected line and does not stop
// the other sessions.
func (t *transfer) unite(ctx context.Context, session name.Session, here, there *remote.Session, q *remote.Quarantine) error {
	if q.LeftOut(name.JournalRef(session)) {
		return nil
	}
	u := &union{t: t, session: session, tip: there.Journal, came: map[name.ID]name.OID{}, there: maps.Clone(there.Checkpoints)}
	// The remote may have moved between the listing and the fetch. A newer journal would name checkpoints that
	// were not listed, and so not fetched; the listed one is part of it. What was fetched is used only if the
	// listed journal did not come, because somebody replaced it.
	if tip := q.Got[name.JournalRef(session)]; tip != "" && (u.tip == "" || !Exists(ctx, t.s.Repo, u.tip)) {
		u.tip = tip
	}
	for id := range there.Checkpoints {
		if got := q.Got[name.CheckpointRef(session, id)]; got != "" {
			u.came[id], u.there[id] = got, got
		}
	}
	t.unpackArchive(ctx, session, there, q)
	u.unfold(there, here.Held())
	err := u.run(ctx)
	if excused(err) {
		t.again = t.again || checkpoint.Vanished(err)
		t.line(name.JournalRef(session), OutcomeRejected, err.Error())
		return nil
	}
	return err
}

// completeRecords fetches the records of all new checkpoints with one connection. In a partial
// clone the blobs were left out, and git would open a connection for each one that is read. In a
// full clone it does nothing.
func (t *transfer) completeRecords(ctx context.Context, q *remote.Quarantine) error {
	if t.s.Repo.Promisor() == "" {
		return nil
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
		if blob, err := t.s.Store.RecordBlob(ctx, oid); err == nil && blob != "" { // otherwise the verification of this checkpoint reports the damage
			blobs = append(blobs, blob)
		}
	}
	return t.remote.FetchObjects(ctx, blobs)
}

// fetched finishes a fetch: it updates the tracking refs to the remote's journals, and remembers
// the listings if all went well, so that the next fetch in the same state can return at once.
func (t *transfer) fetched(ctx context.Context, there *remote.Listing) error {
	tips, rejected := map[name.Session]name.OID{}, map[name.Ref]bool{}
	for _, l := range t.answer.Lines {
		if session, _, _ := name.SplitCheckpointRef(l.Ref); l.Outcome == OutcomeCreated && l.Ref == name.JournalRef(session) {
			checkpoint.SayBeside(ctx, t.s.Store, session)
		}
		rejected[l.Ref] = rejected[l.Ref] || l.Outcome == OutcomeRejected
	}
	for session, at := range there.Sessions {
		if at.Journal != "" && !rejected[name.JournalRef(session)] && Exists(ctx, t.s.Repo, at.Journal) {
			tips[session] = at.Journal
		}
	}
	if err := t.track(ctx, tips); err != nil {
		return err
	}
	digest := ""
	if t.verdict() == nil {
		here, err := t.listLocal(ctx)
		if err != nil {
			return err
		}
		digest = "fetch " + here.Digest() + " " + there.Digest()
	}
	return t.memory.synced(t.s.Store, digest)
}
