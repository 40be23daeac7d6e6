package proof

// This file reads a journal and proves it. It tries the fast way first (follow), which only tells
// whether everything is right. If not, it reads again level by level (walk) to find every break.

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

// Chain is a journal as it is in the repository. Every commit was read, and its id computed from
// its content.
type Chain struct {
	Tip    name.OID       // the newest commit
	Log    *journal.Log   // nil if the chain is broken
	State  *journal.State // the fold of Log; nil if the chain is broken
	Breaks []Break        // what is wrong, in the order in which it was found

	nodes map[name.OID]journal.Node // of a broken chain: the commits that could be read
}

// Break is a place at which the chain of a journal is broken.
type Break struct {
	Kind  Kind
	OID   name.OID // the broken commit
	Child name.OID // the commit that names OID as its parent, where known
	Text  string   // for people
}

// Finding returns the break as a finding about its session.
func (b Break) Finding() Finding {
	return Finding{b.Kind, string(b.OID), b.Text, hintOf(b.Kind, "")}
}

// together is how many objects are requested at once. It is large enough to keep git busy, and
// small enough that what was read does not fill the memory.
const together = 1024

// keepJournal is the most bytes of a journal commit that are kept in memory: the largest message
// and its headers.
const keepJournal = journal.MaxMessage + 1<<20

// ReadChain reads and proves the journal that ends at tip. Damage is in Breaks; an error means that
// reading was impossible.
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
	c.nodes = map[name.OID]journal.Node{} // slower: find out what is wrong
	if err := c.walk(ctx, s); err != nil {
		return nil, err
	}
	if len(c.Breaks) == 0 {
		c.fold(slices.Collect(maps.Values(c.nodes)))
	}
	return c, ctx.Err()
}

// follow reads everything that the tip reaches, in one pass. A goroutine parses commits while the
// next ones are read. If anything is wrong it returns nil, without a reason; walk finds the reason.
func (c *Chain) follow(ctx context.Context, s *store.Store) (*journal.Log, error) {
	read, done := make(chan []git.Object, 4), make(chan *journal.Log)
	go func() { done <- c.gather(s, read) }()
	whole, count := true, 0
	var some []git.Object
	var next []name.OID
	var seen map[name.OID]bool // made at the first merge: without merges no commit is reached twice
	err := s.Repo.Batch().Follow(ctx, c.Tip, keepJournal, func(o git.Object, err error) ([]name.OID, error) {
		if count++; err != nil || o.Type != "commit" || o.Data == nil || count > journal.MaxNodes {
			whole = false
			return nil, errStop
		}
		next = git.ParentsOf(next[:0], o.Data)
		// The data is valid only during this call, so it is copied.
		if some = append(some, git.Object{OID: o.OID, Type: o.Type, Data: bytes.Clone(o.Data)}); len(some) == together/16 {
			read <- some
			some = nil
		}
		if seen == nil && len(next) > 1 {
			seen = map[name.OID]bool{}
		}
		if seen != nil {
			// After a merge, two lines may lead to the same commit. Read it once.
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

// gather makes a journal of the commits that it receives. It returns nil if one of them is wrong.
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

// errStop ends a read whose rest is not needed.
var errStop = errors.New("enough")

// fold makes Log and State of a chain whose commits could all be read.
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

// broken adds a break.
func (c *Chain) broken(b Break) { c.Breaks = append(c.Breaks, b) }

// read reads the commits oids. child tells of which commit each is a parent, for the report of a
// missing one.
func (c *Chain) read(ctx context.Context, s *store.Store, oids []string, child map[name.OID]name.OID) error {
	// ProveApart calls the function from several goroutines. Parsing happens outside of the lock.
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

// forged marks an error that says that an object is not a commit of a journal.
type forged struct{ error }

// take adds one commit to the nodes, or what is wrong with it to the breaks.
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

// walk reads the journal breadth-first from the tip. It goes on behind damaged commits as far as
// other parents lead.
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

// all returns the commits that could be read.
func (c *Chain) all() iter.Seq[journal.Node] {
	if c.Log != nil {
		return slices.Values(c.Log.Nodes())
	}
	return maps.Values(c.nodes)
}

// Sound returns the newest commits, of all the chains together, whose ancestors are all readable.
// The journal can go on from them when its tip is broken. They are sorted.
func Sound(chains ...*Chain) []name.OID {
	all := map[name.OID]journal.Node{}
	for _, c := range chains {
		for n := range c.all() {
			all[n.OID] = n
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
