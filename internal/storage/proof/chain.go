package proof

// This file reads a journal and proves it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Chain is a journal as it is in the repository. Every commit was read, and its id computed from
// its content.
type Chain struct {
	Tip    name.OID       // the newest commit
	Log    *journal.Log   // nil if the chain is broken
	State  *journal.State // the fold of Log; nil if the chain is broken
	Breaks []Finding      // what is wrong, in the order in which it was found

	nodes []journal.Node // of a broken chain: the commits that could be read
}

// ReadChain reads and proves the journal of a session that ends at tip. It goes on past damaged
// commits as far as other parents lead. Damage is in Breaks; an error means that reading was
// impossible.
func ReadChain(ctx context.Context, s *store.Store, session name.Session, tip name.OID) (*Chain, error) {
	const keepJournal = journal.MaxMessage + 1<<20 // the most bytes of a journal commit that are kept in memory: the largest message and its headers
	c := &Chain{Tip: tip}
	met := map[name.OID]bool{tip: true}
	err := s.Repo.Objects.Batch().Follow(ctx, tip, keepJournal, func(oid name.OID, o git.Object, err error) ([]name.OID, error) {
		if len(met) > journal.MaxNodes {
			c.broken(JournalForged, tip, fmt.Sprintf("the journal has more than %d commits", journal.MaxNodes))
			return nil, errStop
		}
		var next []name.OID
		for _, p := range c.addCommit(oid, o, err).Parents {
			if !met[p] {
				met[p] = true
				next = append(next, p)
			}
		}
		return next, nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	if len(c.Breaks) == 0 {
		if c.Log, err = journal.NewLog(c.nodes, tip); err == nil {
			c.State, c.nodes = c.Log.Fold(), nil
			c.own(session)
		} else {
			c.broken(JournalForged, tip, err.Error())
		}
	}
	return c, ctx.Err()
}

// own breaks the chain if it is the whole journal of another session: none of it is used here.
func (c *Chain) own(session name.Session) {
	if c.State.Session != session {
		c.broken(JournalForged, c.Tip, fmt.Sprintf("the journal belongs to session %q", c.State.Session))
		c.Log, c.State = nil, nil
	}
}

// errStop ends a read whose rest is not needed.
var errStop = errors.New("enough")

// broken adds a break.
func (c *Chain) broken(kind Kind, oid name.OID, text string) {
	c.Breaks = append(c.Breaks, Violated(kind, string(oid), text))
}

// addCommit adds one commit to the nodes, or what is wrong with it to the breaks. It returns an empty node then.
func (c *Chain) addCommit(oid name.OID, o git.Object, err error) (n journal.Node) {
	switch {
	case errors.Is(err, git.ErrMissing):
		c.broken(JournalMissing, oid, fmt.Sprintf("commit %s of the journal is missing", oid.Short()))
	case err != nil:
		c.broken(JournalGarbled, oid, fmt.Sprintf("commit %s of the journal: %v", oid.Short(), err))
	case o.Data == nil && o.Size > 0:
		c.broken(JournalForged, oid, fmt.Sprintf("commit %s of the journal has %d bytes, more than any event", oid.Short(), o.Size))
	default:
		if n, err = store.Node(o.OID, o, nil); err != nil {
			c.broken(JournalForged, oid, strings.TrimPrefix(err.Error(), "the "))
			return journal.Node{}
		}
		c.nodes = append(c.nodes, n)
	}
	return n
}

// Has reports whether the chain reaches a commit.
func (c *Chain) Has(oid name.OID) bool {
	if c.Log != nil {
		return c.Log.Contains(oid)
	}
	return slices.ContainsFunc(c.nodes, func(n journal.Node) bool { return n.OID == oid })
}

// all returns the commits that could be read.
func (c *Chain) all() []journal.Node {
	if c.Log != nil {
		return c.Log.Nodes()
	}
	return c.nodes
}

// Sound returns the newest commits, of all the chains together, whose ancestors are all readable and
// of the session. The journal can go on from them when its tip is broken. They are sorted.
func Sound(session name.Session, chains ...*Chain) []name.OID {
	all := map[name.OID]journal.Node{}
	for _, c := range chains {
		for _, n := range c.all() {
			if n.Event == nil || n.Event.Session == session {
				all[n.OID] = n
			}
		}
	}
	sound := soundOf(all)
	// A sound commit is a head if no other sound commit has it as a parent.
	covered := map[name.OID]bool{}
	for oid, holds := range sound {
		for _, p := range all[oid].Parents {
			covered[p] = covered[p] || holds
		}
	}
	var heads []name.OID
	for oid, holds := range sound {
		if holds && !covered[oid] {
			heads = append(heads, oid)
		}
	}
	slices.Sort(heads)
	return heads
}

// soundOf reports for each node whether all its ancestors are there. It uses a stack of its own: a
// journal may have a million commits in a row, which is too deep for recursion.
func soundOf(all map[name.OID]journal.Node) map[name.OID]bool {
	sound := make(map[name.OID]bool, len(all))
	for start := range all {
		for stack := []name.OID{start}; len(stack) > 0; {
			at := stack[len(stack)-1]
			if _, known := sound[at]; known {
				stack = stack[:len(stack)-1]
				continue
			}
			n, holds, waits := all[at], true, false
			for _, p := range n.Parents {
				if _, there := all[p]; !there {
					holds = false
				} else if is, known := sound[p]; !known {
					waits = true
					stack = append(stack, p)
				} else {
					holds = holds && is
				}
			}
			// All parents are decided, so this one can be decided, too.
			if !waits {
				sound[at] = holds
				stack = stack[:len(stack)-1]
			}
		}
	}
	return sound
}

// Starting returns the only commit of the chain whose id starts with prefix. ok is false if there
// is none or more than one.
func (c *Chain) Starting(prefix string) (found name.OID, ok bool) {
	for _, n := range c.all() {
		if strings.HasPrefix(string(n.OID), prefix) {
			if found != "" {
				return "", false
			}
			found = n.OID
		}
	}
	return found, found != ""
}
