package travel

// The order in which the refs of a push are sent matters, because a push can be cut off at any time
// and because not every host supports atomic pushes. Checkpoints go before the journal that names
// them, so that a reader never finds an event without its checkpoint. Deletions of dead checkpoints
// go only together with the journal that holds their tombstones. Notes go last: they can be made
// again.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
)

// joinable returns an error if the journal of a remote cannot be merged with mine: it is another
// session's, or one of them is read-only. mine is nil where nothing has to be merged.
func joinable(session name.Session, theirs *journal.Log, mine *journal.State) error {
	st := theirs.Fold()
	if st.Session != session {
		return &store.DamagedError{What: "journal", OID: theirs.Tip().OID, Err: fmt.Errorf("it belongs to session %q", st.Session)}
	}
	if mine == nil {
		return nil
	}
	for _, st := range []*journal.State{st, mine} {
		if st.ReadOnly != "" {
			return store.ReadOnly(session, st)
		}
	}
	return nil
}

// unforged returns an error if a journal has events of another session. Nobody could write on top of
// it, so it is not sent, and does not replace one that is whole.
func unforged(session name.Session, tip name.OID, st *journal.State) error {
	for _, e := range st.Strangers() {
		return &store.DamagedError{What: "journal", OID: tip, Err: fmt.Errorf("event %s is of session %q, not of %q", e.OID.Short(), e.Session, session)}
	}
	return nil
}

// maxDeletes bounds how many refs of dead checkpoints one push deletes. Every reader ignores the
// rest; see payOwed.
var maxDeletes = 400

// send carries out the plan. First it sends, in chunks, the checkpoints that do not fit into one
// push. The rest goes in one atomic push: the last checkpoints with the journals, the deletions and
// the notes. If the remote refuses any part of that, or has no atomic push, sendInOrder sends the
// parts one after the other, so that every prefix is a valid state.
func (c *pushRound) send(ctx context.Context) error {
	var creates, journals, deletes []remote.Update
	for _, p := range c.plans {
		creates, deletes = append(creates, p.Create...), append(deletes, p.Delete...)
		if p.Journal != "" {
			journals = append(journals, remote.Update{Ref: name.JournalRef(p.Session), New: p.Journal})
		}
	}
	deletes = deletes[:min(len(deletes), maxDeletes)]
	// No journal names these checkpoints at the remote yet, so readers ignore them until it
	// arrives.
	for len(creates)+len(journals)+len(deletes) > remote.Chunk && len(creates) > 0 {
		n := min(len(creates), remote.Chunk)
		if err := c.sendEach(ctx, creates[:n], c.recordOutcome); err != nil {
			return err
		}
		creates = creates[n:]
		c.s.Trace("sent")
	}
	creates = append(creates, c.archives...)
	all := slices.Concat(creates, journals, deletes)
	if c.notes != "" {
		all = append(all, remote.Update{Ref: name.NotesRef, New: c.notes})
	}
	if len(all) == 0 {
		return nil
	}
	if !c.alone && len(all) <= 2*remote.Chunk {
		if done, err := c.sendTogether(ctx, all); done || err != nil {
			c.s.Trace("notes sent")
			return err
		}
	}
	return c.sendInOrder(ctx, creates, journals, deletes)
}

// sendTogether sends everything in one atomic push. done is false where the remote refused some ref
// or has no atomic push. The caller then sends the refs in parts, so that one refused ref does not
// hold up the others.
func (c *pushRound) sendTogether(ctx context.Context, all []remote.Update) (done bool, err error) {
	outcomes, err := c.remote.Push(ctx, all, remote.AllOrNone)
	if errors.Is(err, remote.ErrNotAtomic) {
		c.alone = true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	refused := false
	for _, o := range outcomes {
		if o.Verdict == remote.Stale {
			return false, errStale
		}
		refused = refused || o.Verdict >= remote.Refused
	}
	if refused {
		return false, nil
	}
	for _, o := range outcomes {
		c.recordOutcome(o)
	}
	return true, nil
}

// sendInOrder sends checkpoints, then journals, then notes, each ref on its own. Deletions are sent
// only in an atomic push with the journals. Where the remote does not accept that, they are left
// for a later push.
func (c *pushRound) sendInOrder(ctx context.Context, creates, journals, deletes []remote.Update) error {
	err := c.sendEach(ctx, creates, c.recordOutcome)
	if err != nil {
		return err
	}
	c.s.Trace("sent")
	together := false
	if len(journals) > 0 && len(deletes) > 0 && !c.alone {
		together, err = c.sendTogether(ctx, slices.Concat(journals, deletes))
	}
	if err == nil && !together {
		err = c.sendEach(ctx, journals, c.recordOutcome)
	}
	if err != nil {
		return err
	}
	c.s.Trace("journal sent")
	// Without a journal, another clone would see notes of checkpoints that it does not know, take them out again,
	// and both clones would rewrite the notes forever.
	lost := slices.ContainsFunc(c.plans, func(p remote.Plan) bool { return p.Journal != "" && !c.landed[p.Session] })
	if c.notes == "" || lost {
		return nil
	}
	err = c.sendEach(ctx, []remote.Update{{Ref: name.NotesRef, New: c.notes}}, c.recordOutcome)
	c.s.Trace("notes sent")
	return err
}

// sendEach sends the refs in chunks. The remote takes or refuses each by itself, and took is called
// with each result. It is not called for a ref that had moved at the remote: then the error is
// errStale, once all refs were sent.
func (c *pushRound) sendEach(ctx context.Context, updates []remote.Update, took func(remote.Outcome)) error {
	var stale error
	for some := range slices.Chunk(updates, remote.Chunk) {
		outcomes, err := c.remote.Push(ctx, some, remote.EachAlone)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Verdict == remote.Stale {
				stale = errStale
			} else {
				took(o)
			}
		}
	}
	return stale
}

// recordOutcome records the result of one ref: the line of the answer, and the listing c.there,
// which the later steps of the push use.
func (c *pushRound) recordOutcome(o remote.Outcome) {
	session, leaf, _ := name.SplitCheckpointRef(o.Ref)
	if o.Verdict >= remote.Refused {
		c.line(o.Ref, OutcomeRejected, o.Reason)
		switch {
		case o.Ref == name.NotesRef:
			c.noNotes = true
			c.s.Store.Warn(c.answer.Remote + " does not take the notes; nothing is lost, clones make them from the checkpoints")
		case strings.Contains(o.Reason, "shallow update"):
			c.hint = "this clone is shallow, and the remote lacks what it lacks: " + checkpoint.UnshallowHint
		default:
			c.hint = "`git checkpoint init --remote-check` shows what the remote accepts, and what helps"
		}
		return
	}
	outcome := OutcomeCreated
	switch {
	case o.New == "":
		outcome = OutcomeDeleted
	case leaf == "archive":
		c.archived[session] = true
		if c.there.Session(session).Archive != "" {
			outcome = OutcomeUpdated
		}
	case leaf == "journal":
		c.landed[session], c.tips[session] = true, o.New
		if c.there.Session(session).Journal != "" {
			outcome = OutcomeUpdated
		}
	case o.Ref == name.NotesRef && c.there.Notes != "":
		outcome = OutcomeUpdated
	}
	if o.Verdict != remote.Held { // Held: the remote has it although its listing did not show it
		c.line(o.Ref, outcome, "")
	}
	c.there.Set(o.Ref, o.New)
}

// pushed finishes a push that succeeded: it updates the tracking refs, clears the note of an
// earlier refusal, and saves when this remote was synchronised.
func (t *transfer) pushed(ctx context.Context) error {
	if err := t.track(ctx, t.tips); err != nil {
		return err
	}
	noteRefusal(t.s.Repo, nil)
	return t.memory.synced(t.s.Store, "")
}

// sendTags sends the tags of the pushed sessions. A tag that the remote has with another value is
// rejected here, since moving a tag takes force.
func (c *pushRound) sendTags(ctx context.Context) error {
	var updates []remote.Update
	for _, r := range c.tags {
		switch there := c.there.Tags[r.Ref]; {
		case there == "":
			updates = append(updates, remote.Update{Ref: r.Ref, New: r.OID})
		case there != r.OID:
			c.line(r.Ref, OutcomeRejected, "the remote has another checkpoint for it, and a tag is never moved; `git push "+c.answer.Remote+" :"+string(r.Ref)+"` deletes it there")
		}
	}
	if len(updates) > 0 {
		c.s.Store.Warn("tags were sent: everybody who clones or fetches gets them, with the checkpoints that they name")
	}
	return c.sendEach(ctx, updates, c.recordOutcome)
}
