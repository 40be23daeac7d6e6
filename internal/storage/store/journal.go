package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// writeJournal writes the change's events on top of the journal and adds the update of its ref. It
// also adds an update if there are no events: git then verifies, in the same transaction, that the
// journal has not moved since it was read.
//
// If the change has a Base, that must contain everything that the session's journal has. Events of
// a later version may come with it, but nothing is written on top of those.
func (a *attempt) writeJournal(ctx context.Context) error {
	log := a.log
	if a.change.Base != nil {
		// The new journal must contain every event of the old one.
		if log != nil && !a.change.Base.Contains(a.journal) && !journal.Covers(a.change.Base, log) {
			return errors.New("write journal: the base of the change does not contain the session's journal")
		}
		log = a.change.Base
		// Events of a later version may be brought in, but nothing may be written on top of them.
		if len(a.change.Events) > 0 {
			if err := a.writable(log.Fold()); err != nil {
				return err
			}
		}
	}
	for i := range a.change.Events {
		var err error
		if log, err = a.writeEvent(ctx, log, a.change.Events[i]); err != nil {
			return err
		}
	}
	if log == nil {
		return nil // there is no journal yet that could move
	}
	tip := log.Tip().OID
	a.updates = append(a.updates, git.Update{Ref: name.JournalRef(a.session), New: tip, Old: a.journal})
	a.log, a.result.Tip = log, tip
	if tip != a.journal {
		a.result.State = a.store.fold(log)
	}
	return nil
}

// writeEvent writes one event as a commit on top of log and returns the journal with it.
func (a *attempt) writeEvent(ctx context.Context, log *journal.Log, e journal.Event) (*journal.Log, error) {
	e.Parents = nil
	if log != nil {
		e.Parents = []name.OID{log.Tip().OID}
	}
	if e.Session == "" {
		e.Session = a.session
	}
	if e.Session != a.session {
		return nil, fmt.Errorf("write journal: an event of session %q does not belong to %q", e.Session, a.session)
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("write journal: %w", err)
	}
	node, err := a.writeNode(ctx, eventCommit(&e), a.store.Signer)
	if err != nil {
		return nil, err
	}
	a.result.Events = append(a.result.Events, node.OID)
	if log == nil {
		return journal.NewLog([]journal.Node{node}, node.OID)
	}
	return log, log.Extend([]journal.Node{node}, node.OID)
}

// writeNode writes a commit of a journal. It also writes the empty tree as an object: git can read
// that tree without it, but `git fsck` reports it as missing. The content of a commit that git has
// signed is read back, so that verify can write it again.
func (a *attempt) writeNode(ctx context.Context, c git.Commit, signer *Signer) (journal.Node, error) {
	var err error
	if c.Tree, err = a.write(ctx, "tree", nil); err != nil {
		return journal.Node{}, err
	}
	if signer == nil {
		if c.OID, err = a.write(ctx, "commit", c.Encode()); err != nil {
			return journal.Node{}, err
		}
		return parseNode(c)
	}
	if c.OID, err = a.store.sign(ctx, c, *signer); err != nil {
		return journal.Node{}, fmt.Errorf("journal: %w", err)
	}
	o, err := a.store.Repo.Objects.Batch().Typed(ctx, string(c.OID), "commit")
	if err != nil {
		return journal.Node{}, err
	}
	a.written[c.OID] = object{"commit", o.Data}
	return parseNode(c)
}

// signature returns the author of an event. actor is "Name <email>".
func signature(actor string, t time.Time) git.Signature {
	who, email, _ := strings.Cut(strings.TrimSuffix(actor, ">"), "<")
	return git.Signature{Name: strings.TrimSuffix(who, " "), Email: email, When: t.UTC()}
}

// eventCommit returns the commit of an event, without its tree.
func eventCommit(e *journal.Event) git.Commit {
	by := signature(e.Actor, e.Time)
	return git.Commit{Parents: e.Parents, Author: by, Committer: by, Message: e.Message()}
}

// mergeCommit returns the commit of a merge, without its tree.
func mergeCommit(m *journal.MergeCommit) git.Commit {
	by := signature(journal.MergeIdentity, m.When)
	return git.Commit{Parents: m.Parents, Author: by, Committer: by, Message: journal.MergeMessage}
}

// Join merges two journals of a session and returns the result. Either may be nil. If one contains
// the other, that one is the result; otherwise Join writes a merge commit, which is the same in
// every clone. It writes no refs, and does not change mine and theirs.
func (s *Store) Join(ctx context.Context, mine, theirs *journal.Log) (*journal.Log, error) {
	tip, merge := journal.Merge(mine, theirs)
	switch {
	case merge == nil && mine != nil && mine.Tip().OID == tip.OID:
		return newLog(mine.Nodes(), tip.OID)
	case merge == nil && theirs != nil:
		return newLog(theirs.Nodes(), tip.OID)
	case merge == nil:
		return nil, nil
	}
	a := &attempt{store: s, written: map[name.OID]object{}}
	// A merge is never signed, because two clones have to create the same one.
	node, err := a.writeNode(ctx, mergeCommit(merge), nil)
	if err != nil {
		return nil, fmt.Errorf("merge journals: %w", err)
	}
	return newLog(append(append(mine.Nodes(), theirs.Nodes()...), node), node.OID)
}
