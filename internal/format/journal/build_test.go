package journal

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// epoch is the time at which every test's clock starts.
var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// hash names a commit by its content, as git does.
func hash(c Commit) name.OID {
	h := sha1.New()
	for _, p := range c.Parents {
		fmt.Fprintf(h, "parent %s\n", p)
	}
	fmt.Fprintf(h, "author %s\ncommitter %s\n\n%s", c.Author, c.Committer, c.Message)
	return name.OID(hex.EncodeToString(h.Sum(nil)))
}

// id makes a checkpoint id out of a number.
func id(n int) name.ID {
	return name.NewID(n%100, epoch.Add(time.Duration(n)*time.Second), uint16(n))
}

// reporter is a *testing.T or a *rapid.T.
type reporter interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// clone is one writer of a journal. It uses the same functions as the program: messages are
// written, parsed back, and merged by the rule.
type clone struct {
	t     reporter
	log   *Log
	clock time.Time
	id    string // of its worktree
	salt  uint16 // keeps the safety checkpoints of two sessions apart
}

func newClone(t reporter, id string) *clone { return &clone{t: t, clock: epoch, id: id} }

// write appends an event and returns it as parsed.
func (c *clone) write(e Event) *Event {
	c.t.Helper()
	c.clock = c.clock.Add(1500 * time.Millisecond)
	e.Time, e.Session, e.Actor, e.Worktree = c.clock, "demo", "Ada <ada@example.com>", "main"
	if e.WorktreeID == "" {
		e.WorktreeID = c.id
	}
	commit := Commit{Author: Stamp(e.Actor, e.Time), Committer: Stamp(e.Actor, e.Time), Tree: EmptyTreeSHA1, Message: e.Message()}
	if c.log != nil {
		commit.Parents = []name.OID{c.log.Tip().OID}
	}
	if err := e.Check(); err != nil {
		c.t.Fatal(err)
	}
	return c.add(nil, commit).Event
}

// add writes a commit on top of what is here and of more nodes.
func (c *clone) add(more []Node, commit Commit) Node {
	c.t.Helper()
	commit.OID = hash(commit)
	n, err := ParseCommit(commit)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.log == nil {
		c.log, err = NewLog(append(more, n), n.OID)
	} else {
		err = c.log.Extend(append(more, n), n.OID)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// pull merges another clone's journal into this one's and reports whether a merge
// commit was written.
func (c *clone) pull(from *clone) bool {
	c.t.Helper()
	if from.log == nil {
		return false
	}
	tip, m := Merge(c.log, from.log)
	if m != nil {
		c.add(from.log.Nodes(), Commit{Parents: m.Parents, Author: m.by(), Committer: m.by(), Tree: EmptyTreeSHA1, Message: MergeMessage})
		return true
	}
	if c.log == nil {
		l, err := NewLog(from.log.Nodes(), tip.OID)
		if err != nil {
			c.t.Fatal(err)
		}
		c.log = l
	} else if err := c.log.Extend(from.log.Nodes(), tip.OID); err != nil {
		c.t.Fatal(err)
	}
	return false
}

func (c *clone) state() *State {
	if c.log == nil {
		return &State{}
	}
	return c.log.FoldAt(c.id)
}

// create makes checkpoint n, with the current one as its Previous.
func (c *clone) create(n int) *Event {
	c.t.Helper()
	s := c.state()
	if on := s.GoOn(s.CurrentEntry()); on != nil {
		c.settle(*on)
	}
	return c.write(checkpoint(KindCreate, n, s.Current))
}

// settle writes an event without a worktree.
func (c *clone) settle(e Event) {
	id := c.id
	c.id = ""
	c.write(e)
	c.id = id
}

func checkpoint(k Kind, n int, previous name.ID) Event {
	return Event{Kind: k, Checkpoint: id(n), Label: name.Label(n%100, "", ""), Step: n % 100, Milestone: true,
		Trigger: "manual", Previous: previous}
}

func (c *clone) adopt(n int, previous name.ID) *Event {
	c.t.Helper()
	return c.write(checkpoint(KindAdopt, n, previous))
}

// rollback rolls back to checkpoint n by the plan, after a safety checkpoint.
func (c *clone) rollback(n int) *Event {
	c.t.Helper()
	s := c.state()
	_, discard, restore, err := s.RollbackPlan(id(n))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.write(Event{Kind: KindRollback, From: s.Place, To: id(n), Discard: discard, Restore: restore, Safety: c.safe(), Mode: "all"})
}

// safe makes a safety checkpoint.
func (c *clone) safe() name.ID {
	c.t.Helper()
	n := 100_000 + c.log.Len()
	s := c.state()
	if on := s.GoOn(s.CurrentEntry()); on != nil {
		c.settle(*on)
	}
	e := checkpoint(KindCreate, n, s.Current)
	e.Checkpoint = name.NewID(0, epoch.Add(time.Duration(n)*time.Second), uint16(len(c.id)*256+int(c.id[0]))+c.salt)
	e.Milestone, e.Trigger = false, TriggerSafety
	return c.write(e).Checkpoint
}

// undoTarget returns the last rollback or undo of a worktree. An undo took that back before undo
// and redo had lists.
func undoTarget(s *State, worktreeID string) *Event {
	for i := len(s.Rollbacks) - 1; i >= 0; i-- {
		if e := s.Rollbacks[i]; e.WorktreeID == worktreeID {
			return e
		}
	}
	return nil
}

func (c *clone) undo() *Event {
	c.t.Helper()
	s := c.state()
	p, err := s.PlanUndoOf(undoTarget(s, c.id))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.write(Event{Kind: KindUndo, From: p.From, To: p.Target, Undoes: p.Undoes.OID, Safety: c.safe(),
		Discard: p.Discard, Restore: p.Restore})
}

func (c *clone) pin(n int)   { c.t.Helper(); c.write(Event{Kind: KindPin, Checkpoint: id(n)}) }
func (c *clone) unpin(n int) { c.t.Helper(); c.write(Event{Kind: KindUnpin, Checkpoint: id(n)}) }
func (c *clone) prune(ns ...int) {
	c.t.Helper()
	e := Event{Kind: KindPrune}
	for _, n := range ns {
		e.Tombstones = append(e.Tombstones, Tombstone{ID: id(n), Reason: "old"})
	}
	c.write(e)
}

// summary is a state in a line: live and discarded steps, current, dead, pinned.
func summary(s *State) string {
	var live, discarded, dead, pinned []string
	for _, c := range s.Checkpoints() {
		if c.Safety {
			continue
		}
		n := fmt.Sprint(c.Step)
		if c.Live {
			live = append(live, n)
		}
		if c.Discarded {
			discarded = append(discarded, n)
		}
		if c.Dead {
			dead = append(dead, n)
		}
		if c.Pinned {
			pinned = append(pinned, n)
		}
	}
	current := "none"
	if c := s.NewestEntry(); c != nil {
		current = fmt.Sprint(c.Step)
	}
	out := "live " + strings.Join(live, ",") + " at " + current
	for _, p := range []struct {
		word string
		list []string
	}{{"discarded", discarded}, {"dead", dead}, {"pinned", pinned}} {
		if len(p.list) > 0 {
			out += " " + p.word + " " + strings.Join(p.list, ",")
		}
	}
	return out
}

func want(t reporter, s *State, expected string) {
	t.Helper()
	if got := summary(s); got != expected {
		t.Errorf("state is %q, want %q", got, expected)
	}
}

// Node returns the merge as a node of a journal. oid is the id of the commit as written.
func (m MergeCommit) Node(oid name.OID) Node {
	return Node{OID: oid, Parents: m.Parents, CommitterTime: m.When}
}

// by is the author and committer of a merge, as a commit has it.
func (m MergeCommit) by() string { return Stamp(MergeIdentity, m.When) }
