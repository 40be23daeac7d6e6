package travel

import (
	"context"
	"errors"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// Push sends what is here and the remote lacks: checkpoints, the joined journals, notes.
// The answer is there beside an error too.
func Push(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	if err := t.push(ctx, nil); err != nil {
		return t.answer, err
	}
	return t.answer, t.verdict()
}

// pushTries bounds how often a push that others were faster than is planned anew.
const pushTries = 60

// errStale says that the remote has moved on since it was read.
var errStale = errors.New("the remote has moved on")

// push sends to where git would push: that may be another place than the one that is
// fetched from, or several, of which one that cannot be reached stops none of the others. there is the latter as it was just read; nil: not read yet.
func (t *trip) push(ctx context.Context, there *remote.Listing) error {
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
			t.s.Warn(err.Error())
		}
		if ctx.Err() != nil {
			break
		}
	}
	t.answer.Remote = remote.Redact(t.remote.Name)
	return first
}

// pushTo plans and sends until the remote has all of it.
func (t *trip) pushTo(ctx context.Context, there *remote.Listing) error {
	for try := 1; ; try++ {
		var here *remote.Listing
		var err error
		if there == nil {
			here, there, err = t.both(ctx)
		} else {
			here, err = t.here(ctx)
		}
		if err != nil {
			return err
		}
		if err = t.known(here, there); err != nil {
			return err
		}
		err = t.pushOnce(ctx, here, there)
		switch {
		case err == nil:
			return t.pushed(ctx)
		case !errors.Is(err, errStale):
			return unreachable(err)
		case try >= pushTries:
			return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "others were faster each time; what was sent stays, and running it again goes on"}
		}
		there = nil
		if err := t.pause(ctx, try); err != nil {
			return checkpoint.Classify(err)
		}
	}
}

// known refuses a session that nobody has.
func (t *trip) known(here, there *remote.Listing) error {
	for _, session := range t.sessions {
		if here.Sessions[session] == nil && there.Sessions[session] == nil {
			return t.s.UnknownSessionError(context.Background(), session)
		}
	}
	return nil
}

// pause waits for a random part of a span that grows, so that clones that push at the
// same time do not meet again.
func (t *trip) pause(ctx context.Context, try int) error {
	span := min(20*time.Millisecond<<min(try, 6), time.Second)
	timer := time.NewTimer(time.Duration(t.s.Store.Random()) % span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// consignment is all that one push sends, fixed before the first of it goes.
type consignment struct {
	plans  []remote.Plan
	folds  map[name.Session]*Joined
	notes  name.OID // the notes commit to send; empty: theirs is as good
	there  *remote.Listing
	here   *remote.Listing
	landed map[name.Session]bool // sessions whose journal is there now

	archives []remote.Update
	archived map[name.Session]bool // sessions whose archive is there now
}

// pushOnce makes one plan and carries exactly it out.
func (t *trip) pushOnce(ctx context.Context, here, there *remote.Listing) error {
	c := &consignment{folds: map[name.Session]*Joined{}, here: here, there: there, landed: map[name.Session]bool{}, archived: map[name.Session]bool{}}
	q, err := t.bringJournals(ctx, here, there)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	for _, session := range here.Names() {
		if err := t.plan(ctx, c, session, here, q); err != nil {
			if why := excuse(err); why != nil {
				t.line("push", name.JournalRef(session), OutcomeRejected, why.Error())
				continue
			}
			return err
		}
	}
	if c.notes, err = t.notesToSend(ctx, c, here); err != nil {
		return err
	}
	if err := t.mayBeSent(ctx, c); err != nil {
		return err
	}
	t.s.Trace("planned push")
	mine := make(chan string, 1) // git is sending meanwhile
	go func() { mine <- c.settledHere() }()
	if err := t.send(ctx, c); err != nil {
		return err
	}
	if err := t.sendFolds(ctx, c); err != nil {
		return err
	}
	if err := t.sendExpunged(ctx, c); err != nil {
		return err
	}
	if err := t.sendTags(ctx, c); err != nil {
		return err
	}
	t.settled = ""
	if digest := <-mine; digest != "" && t.verdict() == nil && c.nothingToFetch() {
		t.settled = "fetch " + digest + " " + there.Digest()
	}
	return nil
}

// settledHere is the digest of what is here when a fetch would have nothing to adopt or to
// drop in it; else it is empty.
func (c *consignment) settledHere() string {
	for session, here := range c.here.Sessions {
		j := c.folds[session]
		if j == nil {
			return ""
		}
		named := map[name.ID]bool{}
		for _, e := range j.log.Events() {
			named[e.Checkpoint] = true
		}
		for id := range here.Held() {
			if !named[id] || j.dead(id) {
				return ""
			}
		}
	}
	return c.here.Digest()
}

// nothingToFetch reports whether all that the remote has is here, and the journals are
// the same.
func (c *consignment) nothingToFetch() bool {
	for session, there := range c.there.Sessions {
		here := c.here.Session(session)
		if here.Journal != there.Journal || there.Archive != here.Archive {
			return false
		}
		held := here.Held()
		for id, oid := range there.Checkpoints {
			if held[id] != oid {
				return false
			}
		}
	}
	return len(c.there.Sessions) == len(c.here.Sessions)
}

// bringJournals fetches those journals of the remote that ours do not hold, and its
// notes where they are not here.
func (t *trip) bringJournals(ctx context.Context, here, there *remote.Listing) (*remote.Quarantine, error) {
	var want []name.Ref
	if t.ours == nil {
		t.ours = map[name.Session]*Joined{}
	}
	for _, session := range here.Names() {
		if t.wantsArchiveRead(ctx, session, here.Session(session), there.Session(session)) {
			want = append(want, name.ArchiveRef(session))
		}
		theirs := there.Session(session).Journal
		if theirs == "" || theirs == here.Session(session).Journal {
			continue
		}
		mine := t.ours[session]
		if mine == nil || mine.log.Tip().OID != here.Session(session).Journal {
			var err error
			if mine, err = JournalOf(ctx, t.s, session); err != nil && excuse(err) == nil {
				return nil, err
			}
			t.ours[session] = mine
		}
		if mine == nil || !mine.log.Contains(theirs) {
			want = append(want, name.JournalRef(session))
		}
	}
	if there.Notes != "" && there.Notes != here.Notes && len(here.Sessions) > 0 {
		if _, err := t.s.Repo.ReadCommit(ctx, string(there.Notes)); err != nil {
			want = append(want, name.NotesRef)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	return t.bringWhole(ctx, want, there)
}

// plan fixes the joined journal and the refs of one session.
func (t *trip) plan(ctx context.Context, c *consignment, session name.Session, here *remote.Listing, q *remote.Quarantine) error {
	at := c.there.Session(session)
	if q != nil && q.Got[name.JournalRef(session)] != "" {
		at.Journal = q.Got[name.JournalRef(session)]
	}
	if q != nil {
		t.unpackArchive(ctx, session, at, q)
	}
	mine := t.ours[session]
	if mine == nil || mine.log.Tip().OID != here.Session(session).Journal {
		var err error
		if mine, err = JournalOf(ctx, t.s, session); err != nil {
			return err
		}
		if mine != nil && mine.log.Tip().OID != here.Session(session).Journal {
			return errStale // it was written to since the refs were listed
		}
	}
	j, send, err := t.join(ctx, session, mine, at.Journal)
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
	p := remote.PlanPush(session, here.Session(session), at, tip, j.dead)
	for _, conflict := range p.Conflicts {
		t.line("push", conflict.Ref, OutcomeConflict, "it is "+conflict.Here.Short()+" here and "+conflict.There.Short()+" there")
	}
	archive, err := t.archiveToSend(ctx, &p, at)
	if err != nil {
		return err
	}
	if archive != "" {
		c.archives = append(c.archives, remote.Update{Ref: name.ArchiveRef(session), New: archive})
	}
	c.plans = append(c.plans, p)
	return nil
}

// join merges the journals for a push and says whether the result is worth sending.
func (t *trip) join(ctx context.Context, session name.Session, mine *Joined, theirTip name.OID) (*Joined, bool, error) {
	switch {
	case mine == nil && theirTip == "":
		return nil, false, nil
	case theirTip == "":
		return mine, true, nil
	case mine != nil && mine.log.Contains(theirTip):
		return mine, mine.log.Tip().OID != theirTip && !(t.req.Quietly && t.saysNothing(ctx, mine.log, theirTip)), nil
	}
	var known *journal.Log
	if mine != nil {
		known = mine.log
	}
	theirs, err := t.s.Store.LogAt(ctx, theirTip, known)
	if err != nil {
		return nil, false, err
	}
	if mine == nil || theirs.Contains(mine.log.Tip().OID) {
		return &Joined{log: theirs}, false, nil
	}
	if st := theirs.Fold(); st.ReadOnly != "" || mine.Fold().ReadOnly != "" || st.Session != session {
		return nil, false, t.unjoinable(session, st, mine.Fold())
	}
	log, err := t.s.Store.Join(ctx, mine.log, theirs)
	if err != nil {
		return nil, false, err
	}
	// A merge that says nothing new is not sent: clones could go on so for ever. A fetch
	// takes theirs.
	return &Joined{log: log}, !journal.SameEvents(log, theirs), nil
}

// saysNothing reports whether a journal has no event that one that it descends from
// lacks. The background does not send such a one.
func (t *trip) saysNothing(ctx context.Context, mine *journal.Log, theirTip name.OID) bool {
	theirs, err := t.s.Store.LogAt(ctx, theirTip, mine)
	return err == nil && journal.SameEvents(mine, theirs)
}
