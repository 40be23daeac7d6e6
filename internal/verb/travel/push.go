package travel

// A push is optimistic. Each round lists both sides, fetches the remote's journals that are unknown
// here, merges journals, fixes a plan (a pushRound) and sends it. If the remote has moved in the
// meantime, its compare-and-swap fails, errStale is returned, and the next round starts from a new
// listing after a random pause. What earlier rounds sent stays.

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// Push sends to the remote what it lacks: checkpoints, merged journals and notes. The answer is
// also returned with an error.
func Push(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	return run(s, req, func(t *transfer) error { return t.push(ctx, nil) })
}

// errStale means that the remote, or the journal here, has changed since it was listed.
var errStale = errors.New("the remote has changed in the meantime")

// push sends to every place to which git would push. That may be an address other than the one that
// git fetches from, or several; if one of several cannot be reached, the others still get the push
// and the first error is returned. there is the listing of the fetch address if it was read
// already, else nil. It is of no use for other push addresses, which are listed by themselves.
func (t *transfer) push(ctx context.Context, there *remote.Listing) error {
	t.verb = "push"
	places, err := t.remote.Destinations(ctx)
	if err != nil {
		return unreachable(err)
	}
	if len(places) == 0 {
		return t.pushTo(ctx, there)
	}
	var first error
	for _, place := range places {
		t.remote.Place, t.alone, t.written = place, false, map[name.Ref]int{}
		if len(places) > 1 {
			t.answer.Remote = remote.Redact(place)
		}
		switch err := t.pushTo(ctx, nil); {
		case err == nil:
		case first == nil:
			first = err
		default:
			t.s.Store.Warn(err.Error())
		}
		if ctx.Err() != nil {
			break
		}
	}
	t.answer.Remote = remote.Redact(t.remote.Name)
	return first
}

// pushTo repeats pushOnce until the remote has everything, for one address. there is the first
// listing to plan from, or nil to read it.
func (t *transfer) pushTo(ctx context.Context, there *remote.Listing) error {
	const pushTries = 60 // bounds how often a push is planned again because another clone was faster
	for try := 1; ; try++ {
		var here *remote.Listing
		var err error
		if there == nil {
			here, there, err = t.both(ctx)
		} else {
			here, err = t.listLocal(ctx)
		}
		if err != nil {
			return err
		}
		if err = t.known(ctx, here, there); err != nil {
			return err
		}
		owed, err := t.pushOnce(ctx, here, there)
		switch {
		case err == nil:
			if more, err := t.payOwed(ctx, owed); err != nil || !more {
				return errors.Join(err, t.pushed(ctx))
			}
			there, try = nil, 0
			continue
		case !errors.Is(err, errStale):
			return unreachable(err)
		case try >= pushTries:
			return checkpoint.Failure(checkpoint.KindFailed, "", "others pushed first each time; what was sent stays, so run the command again to continue")
		}
		there = nil
		// Clones that collided once would collide again if they retried in step.
		if err := t.s.Store.Pause(ctx, min(20*time.Millisecond<<min(try, 6), time.Second)); err != nil {
			return err
		}
	}
}

// known returns an error for a requested session that exists neither here nor at the remote.
func (t *transfer) known(ctx context.Context, here, there *remote.Listing) error {
	for _, session := range t.sessions {
		ofClone := func(other name.Session) bool { return checkpoint.IsOfClone(other, session) }
		if here.Sessions[session] == nil && there.Sessions[session] == nil && !slices.ContainsFunc(t.sessions, ofClone) {
			return checkpoint.UnknownSessionError(ctx, t.s.Store, session)
		}
	}
	return nil
}

// pushRound is everything that one round of a push sends. It is fixed before the first ref is sent,
// so that checkpoints made during the push wait for the next one.
type pushRound struct {
	*transfer
	plans  []remote.Plan
	folds  map[name.Session]*Joined // journals by session, merged with the remote's where both have one
	notes  name.OID                 // the notes commit to send; empty: the remote's notes need no change
	there  *remote.Listing
	here   *remote.Listing
	landed map[name.Session]bool // sessions whose journal the remote has taken
	lfs    remote.Endpoint       // where git-lfs sends the files that go with this push
	tags   []git.RefValue        // the checkpoint tags to send: those of the sessions of the plan, if tags are wanted

	archives []remote.Update       // the archive refs to send
	archived map[name.Session]bool // sessions whose archive the remote has taken
}

// pushOnce makes one plan and carries out exactly that, and returns the pruned checkpoints that are left at
// the remote. It returns errStale where the plan no longer fits the remote. A session whose journal is
// damaged or read-only is reported and left out.
func (t *transfer) pushOnce(ctx context.Context, here, there *remote.Listing) (owed map[name.Session][]name.ID, err error) {
	c := &pushRound{transfer: t, folds: map[name.Session]*Joined{}, here: here, there: there, landed: map[name.Session]bool{}, archived: map[name.Session]bool{}}
	q, err := t.bringJournals(ctx, here, there)
	if err != nil {
		return nil, err
	}
	defer q.Close(ctx)
	for _, session := range here.Names() {
		// What the remote has of it is not known, and nothing can be joined with it.
		if q.LeftOut(name.JournalRef(session)) || q.LeftOut(name.ArchiveRef(session)) {
			continue
		}
		if err := c.plan(ctx, session, q); err != nil {
			if excused(err) {
				t.line(name.JournalRef(session), OutcomeRejected, err.Error())
				continue
			}
			return nil, err
		}
	}
	if c.notes, err = c.notesToSend(ctx); err != nil {
		return nil, err
	}
	outside, err := c.mayBeSent(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.sendOutside(ctx, outside); err != nil {
		return nil, err
	}
	t.s.Trace("planned push")
	for _, send := range []func(context.Context) error{c.send, c.sendFolds, c.sendExpunged, c.sendTags} {
		if err := send(ctx); err != nil {
			return nil, err
		}
	}
	return c.findOwed(), nil
}

// bringJournals fetches the remote's journals that the journals here do not contain, the archives
// whose content the plan needs, and the remote's notes if they are not here. The plan merges them.
// The caller closes the quarantine.
func (t *transfer) bringJournals(ctx context.Context, here, there *remote.Listing) (*remote.Quarantine, error) {
	var want []name.Ref
	for _, session := range here.Names() {
		if t.wantsArchiveRead(ctx, session, here.Session(session), there.Session(session)) {
			want = append(want, name.ArchiveRef(session))
		}
		theirs := there.Session(session).Journal
		if theirs == "" || theirs == here.Session(session).Journal {
			continue
		}
		mine, err := t.journalHere(ctx, session, here.Session(session).Journal)
		if err != nil && !excused(err) {
			return nil, err
		}
		if mine == nil || !mine.log.Contains(theirs) {
			want = append(want, name.JournalRef(session))
		}
	}
	if there.Notes != "" && there.Notes != here.Notes && len(here.Sessions) > 0 {
		// The new notes commit gets the remote's as its parent, so that one has to be here.
		if _, err := t.s.Repo.Commits.Read(ctx, string(there.Notes)); err != nil {
			want = append(want, name.NotesRef)
		}
	}
	return t.bringWhole(ctx, want, there)
}

// plan decides what to send of one session and adds it to c: the merged journal, the missing refs,
// the refs to delete, and the archive. A conflict is reported as a line and does not stop the push.
func (c *pushRound) plan(ctx context.Context, session name.Session, q *remote.Quarantine) error {
	here, at := c.here.Session(session), c.there.Session(session)
	at.Journal = cmp.Or(q.Got[name.JournalRef(session)], at.Journal)
	c.unpackArchive(ctx, session, at, q)
	mine, err := c.journalHere(ctx, session, here.Journal)
	if err != nil {
		return err
	}
	if mine != nil && mine.log.Tip().OID != here.Journal {
		return errStale // another process wrote to the journal after the refs were listed
	}
	j, send, err := c.join(ctx, session, mine, at.Journal)
	if err != nil {
		return err
	}
	tip := at.Journal
	if send {
		tip = j.log.Tip().OID
	}
	if j != nil {
		c.folds[session] = j
	}
	p := remote.PlanPush(session, here, at, tip, j.dead)
	p.Create = c.sound(ctx, session, j, p.Create)
	for _, conflict := range p.Conflicts {
		c.line(conflict.Ref, OutcomeConflict, "it is "+conflict.Here.Short()+" here and "+conflict.There.Short()+" there")
	}
	if len(p.Archive) > 0 { // onto what the remote's archive lists already
		members := maps.Clone(p.Archive)
		maps.Copy(members, at.Archived)
		archive, err := c.s.Store.ArchiveOnto(ctx, session, at.Archive, members)
		if err != nil {
			return err
		}
		c.archives = append(c.archives, remote.Update{Ref: name.ArchiveRef(session), New: archive})
	}
	c.plans = append(c.plans, p)
	return nil
}

// sound returns the refs to create without those that are not valid checkpoints, or not the ones
// that the journal names. Nobody could take them back: every other clone would refuse them with
// each fetch, and the right commit would be a conflict from then on. For checkpoints that the
// journal names, only the paths are read: no clone takes those that a rollback refuses.
func (c *pushRound) sound(ctx context.Context, session name.Session, j *Joined, creates []remote.Update) []remote.Update {
	if len(creates) == 0 {
		return nil
	}
	named := map[name.OID]name.ID{}
	if j != nil {
		for _, e := range j.log.Events() {
			named[e.Commit] = e.Checkpoint
		}
	}
	var seen name.OID // a tree without such paths
	return slices.DeleteFunc(creates, func(u remote.Update) bool {
		_, leaf, _ := name.SplitCheckpointRef(u.Ref)
		id := name.ID(leaf)
		var err error
		if named[u.New] != id {
			err = c.inspect(ctx, session, id, u.New, j.Fold()).err
		}
		if err == nil {
			err = Writable(ctx, c.s.Store, u.New, &seen)
		}
		if err != nil {
			c.line(u.Ref, OutcomeRejected, "it was not sent: "+err.Error())
		}
		return err != nil
	})
}

// Writable returns an error if a rollback would refuse a path among the files of a checkpoint or
// those that were staged. Only what differs from the tree in seen is read; if there is no error,
// the checkpoint's tree is stored there. A tree that cannot be read is left to git, which says more
// when it sends or packs it.
func Writable(ctx context.Context, s *store.Store, commit name.OID, seen *name.OID) error {
	trees, err := s.Trees(ctx, commit)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	from := *seen
	for _, tree := range trees {
		changes, err := s.Repo.Trees.Diff(ctx, from, tree)
		if errors.Is(err, git.ErrRefused) {
			return err
		}
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if err := snapshot.Refuse(changes); err != nil {
			return err
		}
		from = trees[0]
	}
	*seen = trees[0]
	return nil
}

// join merges mine with the remote's journal at theirTip. The bool says whether the result has to
// be sent. There are four cases: the remote has no journal, mine contains theirs, theirs contains
// mine, and both have events that the other lacks. Only the last one makes a merge commit.
func (c *pushRound) join(ctx context.Context, session name.Session, mine *Joined, theirTip name.OID) (*Joined, bool, error) {
	if mine != nil {
		if err := unforged(session, mine.log.Tip().OID, mine.Fold()); err != nil {
			return nil, false, err
		}
	}
	switch {
	case mine == nil && theirTip == "":
		return nil, false, nil
	case theirTip == "":
		return mine, true, joinable(session, mine.log, nil)
	case mine != nil && mine.log.Contains(theirTip):
		return mine, mine.log.Tip().OID != theirTip && !(c.req.Quietly && c.saysNothing(ctx, mine.log, theirTip)), nil
	}
	var known *journal.Log
	if mine != nil {
		known = mine.log
	}
	theirs, err := c.s.Store.LogAt(ctx, theirTip, known)
	if err != nil {
		return nil, false, err
	}
	if mine == nil || theirs.Contains(mine.log.Tip().OID) {
		return &Joined{log: theirs}, false, nil
	}
	if err := joinable(session, theirs, mine.Fold()); err != nil {
		return nil, false, err
	}
	log, err := c.s.Store.Join(ctx, mine.log, theirs)
	if err != nil {
		return nil, false, err
	}
	// A merge without new events is not sent. Otherwise two clones could send merges of merges to
	// each other forever. The next fetch takes theirs instead.
	return &Joined{log: log}, !journal.SameEvents(log, theirs), nil
}

// saysNothing reports whether mine, which contains theirTip, has no event that the journal at
// theirTip lacks: the difference is merge commits only. A background push does not send such a
// journal.
func (c *pushRound) saysNothing(ctx context.Context, mine *journal.Log, theirTip name.OID) bool {
	theirs, err := c.s.Store.LogAt(ctx, theirTip, mine)
	return err == nil && journal.SameEvents(mine, theirs)
}
