package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// Chain is a journal as the repository has it, every commit read and its id computed.
type Chain struct {
	Tip    name.OID
	Log    *journal.Log   // nil when the chain is broken
	State  *journal.State // its fold; nil when the chain is broken
	Breaks []Break        // what is wrong, as it was met

	nodes map[name.OID]journal.Node // what could be read, of one that is broken
}

// Break is a place where a journal does not hold.
type Break struct {
	Kind  Kind
	OID   name.OID // the commit
	Child name.OID // of a missing one: the commit that has it as a parent
	Text  string
}

// Finding is the break as a finding about its session.
func (b Break) Finding() Finding {
	return Finding{b.Kind, string(b.OID), b.Text, hintOf(b.Kind, "")}
}

// together is how many objects are asked for at once: enough that nobody waits, few
// enough that what is read does not pile up.
const together = 1024

// keepJournal bounds a commit of a journal.
const keepJournal = journal.MaxMessage + 1<<20

// ReadChain reads a journal below a tip.
func ReadChain(ctx context.Context, s *store.Store, tip name.OID) (*Chain, error) {
	c := &Chain{Tip: tip}
	log, err := c.follow(ctx, s)
	if err != nil {
		return nil, err
	}
	if log != nil {
		c.Log, c.State = log, log.Fold()
		return c, ctx.Err()
	}
	c.nodes = map[name.OID]journal.Node{} // go slowly, and say what is wrong
	if err := c.walk(ctx, s); err != nil {
		return nil, err
	}
	if len(c.Breaks) == 0 {
		c.fold(slices.Collect(maps.Values(c.nodes)))
	}
	return c, ctx.Err()
}

// follow reads all that the tip reaches. While one commit is read those before it are
// taken apart. It gives nothing when anything is not as it has to be.
func (c *Chain) follow(ctx context.Context, s *store.Store) (*journal.Log, error) {
	read, done := make(chan []git.Object, 4), make(chan *journal.Log)
	go func() { done <- c.gather(s, read) }()
	whole, count := true, 0
	var some []git.Object
	var next []name.OID
	var seen map[name.OID]bool // made at the first merge: what a line reaches it reaches once
	err := s.Repo.Batch().Follow(ctx, c.Tip, keepJournal, func(o git.Object, err error) ([]name.OID, error) {
		if count++; err != nil || o.Type != "commit" || o.Data == nil || count > journal.MaxNodes {
			whole = false
			return nil, errStop
		}
		next = git.ParentsOf(next[:0], o.Data)
		if some = append(some, git.Object{OID: o.OID, Type: o.Type, Data: bytes.Clone(o.Data)}); len(some) == together/16 {
			read <- some
			some = nil
		}
		if seen == nil && len(next) > 1 {
			seen = map[name.OID]bool{}
		}
		if seen != nil {
			next = slices.DeleteFunc(next, func(p name.OID) bool {
				met := seen[p]
				seen[p] = true
				return met
			})
		}
		return next, nil
	})
	read <- some
	close(read)
	log := <-done
	if errors.Is(err, errStop) {
		err = nil
	}
	if !whole {
		log = nil
	}
	return log, err
}

// gather makes a journal of its commits. It gives nothing when one is not as it has to be.
func (c *Chain) gather(s *store.Store, read <-chan []git.Object) *journal.Log {
	var nodes []journal.Node
	sound := true
	for some := range read {
		for _, commit := range some {
			n, err := s.Node(commit)
			sound = sound && err == nil
			nodes = append(nodes, n)
		}
	}
	if !sound {
		return nil
	}
	log, err := journal.NewLog(nodes, c.Tip)
	if err != nil {
		return nil
	}
	return log
}

// errStop ends a reading whose rest is not needed.
var errStop = errors.New("enough")

// fold makes the log of a chain whose commits could all be read.
func (c *Chain) fold(nodes []journal.Node) {
	log, err := journal.NewLog(nodes, c.Tip)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		c.broken(Break{JournalMissing, missing.OID, missing.Child, fmt.Sprintf("commit %s of the journal is missing", missing.OID.Short())})
	case err != nil:
		c.broken(Break{JournalForged, c.Tip, "", err.Error()})
	default:
		c.Log, c.State, c.nodes = log, log.Fold(), nil
	}
}

func (c *Chain) broken(b Break) { c.Breaks = append(c.Breaks, b) }

// read reads commits; child says of a commit that is missing whose parent it is.
func (c *Chain) read(ctx context.Context, s *store.Store, oids []string, child map[name.OID]name.OID) error {
	var lock sync.Mutex
	return s.Repo.ProveApart(ctx, oids, keepJournal, func(i int, o git.Object, err error) error {
		var n journal.Node
		if err == nil && (o.Data != nil || o.Size == 0) {
			n, err = s.Node(o)
			if err != nil {
				err = &forged{err}
			}
		}
		lock.Lock()
		defer lock.Unlock()
		c.take(name.OID(oids[i]), child[name.OID(oids[i])], o, n, err)
		return nil
	})
}

// forged says that an object is no commit of a journal.
type forged struct{ error }

func (c *Chain) take(oid, child name.OID, o git.Object, n journal.Node, err error) {
	var not *forged
	switch {
	case errors.Is(err, git.ErrMissing):
		c.broken(Break{JournalMissing, oid, child, fmt.Sprintf("commit %s of the journal is missing", oid.Short())})
	case errors.As(err, &not):
		c.broken(Break{JournalForged, oid, child, strings.TrimPrefix(not.Error(), "the ")})
	case err != nil:
		c.broken(Break{JournalGarbled, oid, child, fmt.Sprintf("commit %s of the journal: %v", oid.Short(), err)})
	case o.Data == nil && o.Size > 0:
		c.broken(Break{JournalForged, oid, child, fmt.Sprintf("commit %s of the journal has %d bytes, more than any event", oid.Short(), o.Size)})
	default:
		c.nodes[oid] = n
	}
}

// walk goes from the tip to what can be reached, a level at a time.
func (c *Chain) walk(ctx context.Context, s *store.Store) error {
	child := map[name.OID]name.OID{}
	seen := map[name.OID]bool{c.Tip: true}
	for level := []string{string(c.Tip)}; len(level) > 0; {
		if len(seen) > journal.MaxNodes {
			c.broken(Break{JournalForged, c.Tip, "", fmt.Sprintf("the journal has more than %d commits", journal.MaxNodes)})
			return nil
		}
		if err := c.read(ctx, s, level, child); err != nil {
			return err
		}
		var next []string
		for _, spec := range level {
			for _, p := range c.nodes[name.OID(spec)].Parents {
				if !seen[p] {
					seen[p], child[p] = true, name.OID(spec)
					next = append(next, string(p))
				}
			}
		}
		level = next
	}
	return nil
}

// Has reports whether the chain reaches a commit.
func (c *Chain) Has(oid name.OID) bool {
	if c.Log != nil {
		return c.Log.Contains(oid)
	}
	_, ok := c.nodes[oid]
	return ok
}

// all are the commits that could be read.
func (c *Chain) all() iter.Seq[journal.Node] {
	if c.Log != nil {
		return slices.Values(c.Log.Nodes())
	}
	return maps.Values(c.nodes)
}

// Sound gives the newest commits below which everything holds, of this chain and more:
// what can be gone on from when the tip cannot.
func Sound(chains ...*Chain) []name.OID {
	all := map[name.OID]journal.Node{}
	for _, c := range chains {
		for n := range c.all() {
			all[n.OID] = n
		}
	}
	sound := soundOf(all)
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

// soundOf says of each node whether all its ancestors are there; it keeps its own stack,
// because a journal may be deeper than any.
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
			if !waits {
				sound[at] = holds
				stack = stack[:len(stack)-1]
			}
		}
	}
	return sound
}

// Starting finds the one commit of the chain whose id begins so.
func (c *Chain) Starting(prefix string) (found name.OID, ok bool) {
	for n := range c.all() {
		if strings.HasPrefix(string(n.OID), prefix) {
			if found != "" {
				return "", false
			}
			found = n.OID
		}
	}
	return found, found != ""
}
