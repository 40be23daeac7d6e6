package journal

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"pgregory.net/rapid"
)

// The random journals name ids out of this many; every fourth is a safety one.
const pool = 9

func drawID(t *rapid.T) name.ID { return drawIDOf(t, pool) }

func drawIDOf(t *rapid.T, pool int) name.ID {
	return id(rapid.IntRange(0, pool-1).Draw(t, "id"))
}

func drawIDs(t *rapid.T) []name.ID {
	return rapid.SliceOfN(rapid.Custom(drawID), 0, 5).Draw(t, "ids")
}

// drawEvent draws an event about anything, including checkpoints that its writer could not know.
func drawEvent(t *rapid.T, kinds []Kind, pool int) Event {
	x := drawIDOf(t, pool)
	e := Event{Format: Format, Session: "demo", Actor: "Ada <ada@example.com>", WorktreeID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "worktree")}
	e.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
	switch e.Kind {
	case KindRollback, KindUndo:
		e.From, e.To, e.Discard, e.Restore = drawID(t), x, drawIDs(t), drawIDs(t)
		e.Undoes = name.OID(strings.Repeat("1", 40))
	case KindPrune:
		for _, y := range append(drawIDs(t), x) {
			e.Tombstones = append(e.Tombstones, Tombstone{ID: y})
		}
	case KindStatus:
		e.Status = fmt.Sprint(x)
	default:
		e.Checkpoint, e.Previous = x, drawID(t)
		if e.Kind == KindRebuild {
			e.RebuiltFrom = drawID(t)
		}
		if slices.Index(poolIDs(), x)%4 == 3 {
			e.Trigger = TriggerSafety
		}
	}
	return e
}

// What a random journal is mostly about.
var (
	anyKinds = []Kind{KindCreate, KindCreate, KindCreate, KindAdopt, KindAdopt, KindRollback, KindRollback, KindUndo,
		KindPin, KindUnpin, KindPrune, KindRebuild, KindStatus}
	moving  = []Kind{KindCreate, KindAdopt, KindRebuild, KindRollback, KindUndo}
	holding = []Kind{KindCreate, KindPin, KindPin, KindUnpin, KindUnpin, KindPrune}
)

func poolIDs() []name.ID {
	ids := make([]name.ID, pool)
	for i := range ids {
		ids[i] = id(i)
	}
	return ids
}

func oid(salt, n int) name.OID {
	sum := sha1.Sum(fmt.Appendf(nil, "%d/%d", salt, n))
	return name.OID(hex.EncodeToString(sum[:]))
}

// drawDAG makes a journal of any shape: several roots, events and merges with any
// parents, clocks that tell nothing. It returns the nodes, parents first, and the tip.
func drawDAG(t *rapid.T, size int) ([]Node, name.OID) {
	salt := rapid.IntRange(0, 1<<20).Draw(t, "salt")
	window := rapid.IntRange(1, 8).Draw(t, "window")
	kinds := rapid.SampledFrom([][]Kind{anyKinds, moving, holding}).Draw(t, "kinds")
	ids := rapid.IntRange(1, pool).Draw(t, "ids")
	var nodes []Node
	for i := range rapid.IntRange(1, size).Draw(t, "size") {
		n := Node{OID: oid(salt, i)}
		if i > 0 {
			for _, back := range rapid.SliceOfNDistinct(rapid.IntRange(1, min(i, window)), 0, min(3, i, window), rapid.ID[int]).Draw(t, "parents") {
				n.Parents = append(n.Parents, nodes[i-back].OID)
			}
		}
		if len(n.Parents) < 2 || rapid.IntRange(0, 2).Draw(t, "event") == 0 {
			e := drawEvent(t, kinds, ids)
			e.OID, e.Parents = n.OID, n.Parents
			e.Time = epoch.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "time")) * 400 * time.Millisecond)
			n.Event = &e
		} else {
			n.CommitterTime = epoch
		}
		nodes = append(nodes, n)
	}
	return join2(nodes, salt)
}

// join2 merges all heads of nodes into one tip, two at a time.
func join2(nodes []Node, salt int) ([]Node, name.OID) {
	hasChild := map[name.OID]bool{}
	for _, n := range nodes {
		for _, p := range n.Parents {
			hasChild[p] = true
		}
	}
	var heads []name.OID
	for _, n := range nodes {
		if !hasChild[n.OID] {
			heads = append(heads, n.OID)
		}
	}
	for len(heads) > 1 {
		m := MergeOf(Tip{OID: heads[0], CommitterTime: epoch}, Tip{OID: heads[1], CommitterTime: epoch}).Node(oid(salt, len(nodes)+1<<20))
		nodes = append(nodes, m)
		heads = append(heads[2:], m.OID)
	}
	return nodes, heads[0]
}

// drawSchedule lets clones with skewed clocks work and sync by the plans, as the
// program does, and returns them.
func drawSchedule(t *rapid.T, steps int, kinds []string) []*clone {
	clones := make([]*clone, rapid.IntRange(2, 4).Draw(t, "clones"))
	for i := range clones {
		clones[i] = &clone{t: t, clock: epoch.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "skew")) * time.Second), id: string(rune('a' + i))}
	}
	clones[0].create(1)
	for _, c := range clones[1:] {
		c.pull(clones[0])
	}
	next := 1
	for range rapid.IntRange(1, steps).Draw(t, "steps") {
		c := clones[rapid.IntRange(0, len(clones)-1).Draw(t, "clone")]
		c.clock = c.clock.Add(time.Duration(rapid.IntRange(-20, 20).Draw(t, "jump")) * time.Second)
		s := c.state()
		switch rapid.SampledFrom(kinds).Draw(t, "act") {
		case "create":
			next++
			c.create(next)
		case "pull":
			c.pull(clones[rapid.IntRange(0, len(clones)-1).Draw(t, "from")])
		case "adopt": // a ref that came without its journal
			for _, o := range clones {
				for _, e := range o.state().Checkpoints() {
					if s.Entry(e.Checkpoint) == nil && !e.Safety {
						c.write(checkpointOf(KindAdopt, e))
						s = c.state()
					}
				}
			}
		case "rollback":
			e := s.Checkpoints()[rapid.IntRange(0, len(s.Checkpoints())-1).Draw(t, "target")]
			if !e.Safety && !e.Dead {
				c.rollback(e.Step)
			}
		case "undo": // as the version before walks did it
			if undoTarget(s, c.id) != nil {
				c.undo()
			}
		case "walk back":
			drawWalk(t, c, func(k *Walk) []Level { return k.Undo })
		case "walk forward":
			drawWalk(t, c, func(k *Walk) []Level { return k.Redo })
		case "change worktree":
			c.id = rapid.SampledFrom([]string{c.id[:1], c.id[:1] + "'"}).Draw(t, "worktree")
		case "pin":
			c.pin(rapid.IntRange(1, next).Draw(t, "pin"))
		case "unpin":
			c.unpin(rapid.IntRange(1, next).Draw(t, "unpin"))
		case "prune":
			if n := rapid.IntRange(1, next).Draw(t, "prune"); len(s.Pins[id(n)]) == 0 {
				c.prune(n)
			}
		}
	}
	return clones
}

// drawWalk takes some levels of a list, if there are any.
func drawWalk(t *rapid.T, c *clone, list func(*Walk) []Level) {
	w := newWalker(t, c)
	if most := len(list(w.walk())); most > 0 {
		w.take(list, rapid.IntRange(1, min(3, most)).Draw(t, "levels"))
	}
}

func checkpointOf(k Kind, e *Entry) Event {
	return checkpoint(k, e.Step, e.Event().Previous)
}

var (
	beforeWalks = []string{"create", "create", "create", "pull", "pull", "adopt", "rollback", "rollback", "undo", "pin", "unpin", "prune"}
	everything  = append([]string{"walk back", "walk back", "walk forward", "change worktree"}, beforeWalks...)
)
