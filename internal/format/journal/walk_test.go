package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"pgregory.net/rapid"
)

// walker simulates a worktree with several sessions, each the journal of a clone. The disk is a
// number, which an edit changes and a safety checkpoint stores.
type walker struct {
	t        reporter
	sessions []*clone
	disk     int
	edits    int
	kept     map[name.ID]int
}

func newWalker(t reporter, sessions ...*clone) *walker {
	w := &walker{t: t, kept: map[name.ID]int{}}
	for _, c := range sessions {
		w.join(c)
	}
	return w
}

// join adds a session.
func (w *walker) join(c *clone) {
	c.salt = uint16(len(w.sessions)) << 12
	w.sessions = append(w.sessions, c)
}

func (w *walker) walk() *Walk {
	var states []*State
	for _, c := range w.sessions {
		states = append(states, c.state())
	}
	return NewWalk(w.sessions[0].id, states...)
}

func (w *walker) edit() { w.edits++; w.disk = w.edits }

// safe stores the disk in a safety checkpoint of a session.
func (w *walker) safe(c *clone) name.ID {
	id := c.safe()
	w.kept[id] = w.disk
	return id
}

func (w *walker) create(c *clone, n int) { c.create(n); w.kept[id(n)] = w.disk }

// rollback goes to a checkpoint; the disk is then what the checkpoint holds.
func (w *walker) rollback(c *clone, n int) {
	w.t.Helper()
	s := c.state()
	_, discard, restore, err := s.RollbackPlan(id(n))
	if err != nil {
		w.t.Fatal(err)
	}
	safety := w.safe(c)
	c.clock = w.walk().TimeAfter(c.clock)
	c.write(Event{Kind: KindRollback, From: s.Place, To: id(n), Discard: discard, Restore: restore, Safety: safety, Mode: "all"})
	w.disk = w.kept[id(n)]
}

func (w *walker) undo(n int) { w.t.Helper(); w.take(func(k *Walk) []Level { return k.Undo }, n) }
func (w *walker) redo(n int) { w.t.Helper(); w.take(func(k *Walk) []Level { return k.Redo }, n) }

// take goes over n levels of a list, of one session, as one transaction does.
func (w *walker) take(list func(*Walk) []Level, n int) {
	w.t.Helper()
	k := w.walk()
	levels := list(k)
	if len(levels) < n {
		w.t.Fatal("the list has", len(levels), "levels, not", n)
	}
	var heads []*Event
	for _, l := range slices.Backward(levels[len(levels)-n:]) {
		heads = append(heads, l.Head)
	}
	state := levels[len(levels)-1].State
	c := w.sessions[slices.IndexFunc(w.sessions, func(c *clone) bool { return c.log.Contains(heads[0].OID) && SameEvents(c.log, &state.fold.log) })]
	plans, err := c.state().PlanEach(heads)
	if err != nil {
		w.t.Fatal(err)
	}
	safety := w.safe(c)
	for _, p := range plans {
		c.clock = k.TimeAfter(c.clock)
		c.write(Event{Kind: KindUndo, From: p.From, To: p.Target, Undoes: p.Undoes.OID, Safety: safety, Discard: p.Discard, Restore: p.Restore})
		safety = c.state().StandIn(p.Undoes.Safety)
		w.disk = w.kept[safety]
		k = w.walk()
	}
}

// look returns what a user sees: the current checkpoint of each session and the disk.
func (w *walker) look() string {
	s := ""
	for _, c := range w.sessions {
		s += summary(c.state()) + "; "
	}
	return s + fmt.Sprint("disk ", w.disk)
}

func (w *walker) want(expected string) {
	w.t.Helper()
	if got := w.look(); got != expected {
		w.t.Errorf("it is %q, want %q", got, expected)
	}
}

// lists are the lengths of both.
func (w *walker) lists(undo, redo int) {
	w.t.Helper()
	if k := w.walk(); len(k.Undo) != undo || len(k.Redo) != redo {
		w.t.Errorf("%d to undo and %d to redo, want %d and %d", len(k.Undo), len(k.Redo), undo, redo)
	}
}

// three makes checkpoints 1 to 3 of disks 1 to 3, and edits on.
func three(t reporter) (*walker, *clone) {
	a := newClone(t, "a")
	w := newWalker(t, a)
	for n := 1; n <= 3; n++ {
		w.edit()
		w.create(a, n)
	}
	w.edit()
	return w, a
}

func TestWalkBackAndForward(t *testing.T) {
	w, a := three(t)
	edited := w.look()
	w.rollback(a, 2)
	w.rollback(a, 1)
	at1 := w.look()
	w.lists(2, 0)
	w.undo(1)
	w.want("live 1,2 at 2 discarded 3; disk 2")
	w.undo(1)
	w.want(edited)
	w.lists(0, 2)
	w.redo(1)
	w.redo(1)
	w.want(at1)
	w.undo(2)
	w.want(edited)
	w.redo(2)
	w.want(at1)
	w.lists(2, 0)
}

// Each of these cases broke a simpler version of the rules.
func TestWalkCases(t *testing.T) {
	t.Run("a create between undo and redo", func(t *testing.T) {
		w, a := three(t)
		w.rollback(a, 1)
		w.undo(1)
		w.edit()
		w.create(a, 4)
		created := w.look()
		w.redo(1)
		w.want("live 1 at 1 discarded 2,3,4; disk 1")
		w.undo(1)
		w.want(created)
	})
	t.Run("two rollbacks to the same, a create between", func(t *testing.T) {
		w, a := three(t)
		before := w.look()
		w.rollback(a, 1)
		w.edit()
		w.create(a, 4)
		w.rollback(a, 1)
		after := w.look()
		w.undo(2)
		w.want(before[:len(before)-len("; disk 4")] + " discarded 4; disk 4")
		w.redo(2)
		w.want(after)
	})
	t.Run("undo 2, redo", func(t *testing.T) {
		w, a := three(t)
		w.rollback(a, 2)
		between := w.look()
		w.rollback(a, 1)
		w.undo(2)
		w.redo(1)
		w.want(between)
		w.lists(1, 1)
	})
	t.Run("two sessions, undo each", func(t *testing.T) {
		w, a := three(t)
		b := newClone(t, "a")
		w.join(b)
		w.create(b, 51)
		w.edit()
		w.create(b, 52)
		before := w.look()
		w.rollback(a, 2)
		w.rollback(b, 51)
		after := w.look()
		w.undo(1)
		w.undo(1)
		w.want(before)
		w.redo(1)
		w.redo(1)
		w.want(after)
	})
	t.Run("a rollback in another session empties the redo list", func(t *testing.T) {
		w, a := three(t)
		b := newClone(t, "a")
		w.join(b)
		w.create(b, 51)
		w.rollback(a, 2)
		w.undo(1)
		w.rollback(b, 51)
		w.lists(1, 0)
	})
	t.Run("a clock set back between sessions", func(t *testing.T) {
		w, a := three(t)
		b := newClone(t, "a")
		w.join(b)
		w.create(b, 51)
		before := w.look()
		a.clock = epoch.Add(time.Hour)
		w.rollback(a, 2)
		b.clock = epoch
		w.rollback(b, 51)
		if last := w.walk().Undo[1].Head; !b.log.Contains(last.OID) || !last.Time.After(w.walk().Undo[0].Head.Time) {
			t.Error("the last move is not the last of the list")
		}
		w.undo(1)
		w.undo(1)
		w.want(before)
	})
	t.Run("a rollback after an undo empties the redo list", func(t *testing.T) {
		w, a := three(t)
		w.rollback(a, 1)
		w.undo(1)
		w.rollback(a, 2)
		w.lists(1, 0)
	})
	t.Run("back to the safety checkpoint of a rollback over concurrent work", func(t *testing.T) {
		a, b := newClone(t, "a"), newClone(t, "b")
		w := newWalker(t, a)
		w.create(a, 1)
		b.pull(a)
		w.edit()
		w.create(a, 2)
		w.rollback(a, 1)
		b.create(3)
		a.pull(b)
		before := summary(a.state())
		w.rollback(a, 3)
		last := a.state().Rollbacks[1].Safety
		target, discard, restore, err := a.state().RollbackPlan(last)
		if err != nil || target != id(1) {
			t.Fatal(target, err)
		}
		a.write(Event{Kind: KindRollback, From: id(3), To: target, Files: last, Discard: discard, Restore: restore, Safety: w.safe(a)})
		want(t, a.state(), "live 1 at 1 discarded 3,2") // the line here went over to 3
		a.undo()
		want(t, a.state(), before[:len(before)-len("1 discarded 2")]+"3 discarded 2")
	})
}

func TestSafetyPlanRefuses(t *testing.T) {
	a := newClone(t, "a")
	a.create(1)
	a.prune(1)
	nowhere := a.safe()
	if _, _, _, err := a.state().RollbackPlan(nowhere); !errors.Is(err, ErrNoPlace) {
		t.Error("made when nothing was current:", err)
	}
}

// An undo that names no earlier move of this worktree is a level of its own.
func TestStrayUndoIsALevel(t *testing.T) {
	w, a := three(t)
	w.rollback(a, 2)
	w.undo(1)
	other := a.write(Event{Kind: KindRollback, WorktreeID: "b", From: id(3), To: id(1)})
	a.write(Event{Kind: KindUndo, From: id(1), To: id(3), Undoes: other.OID})
	w.lists(1, 0)
	a.write(Event{Kind: KindUndo, From: id(3), To: id(1), Undoes: name.OID("1234567890123456789012345678901234567890")})
	w.lists(2, 0)
	if k := NewWalk("", a.state()); len(k.Undo)+len(k.Redo) > 0 {
		t.Error("a worktree without an id has levels")
	}
}

// moment is what an undo or redo must restore: the place of a session, and the disk.
type moment struct {
	session *clone
	Place   string
	Disk    int
}

// now returns the present moment, without discarded checkpoints: what was created since then is
// discarded now, and did not exist then.
func (w *walker) now(c *clone) moment {
	place, _, _ := strings.Cut(summary(c.state()), " discarded")
	return moment{c, place, w.disk}
}

// Whatever one worktree does, each undo and each redo restores exactly what was there.
func TestWalkIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker(t, newClone(t, "a"), newClone(t, "a"))
		w.create(w.sessions[0], 1)
		w.create(w.sessions[1], 50)
		next := 1
		var undo, redo []moment // what they give
		walk := func(from, to *[]moment, step func(int)) {
			if len(*from) == 0 {
				return
			}
			last := (*from)[len(*from)-1]
			*from, *to = (*from)[:len(*from)-1], append(*to, w.now(last.session))
			if step(1); w.now(last.session) != last {
				t.Fatal(w.now(last.session), "is not", last)
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			c := w.sessions[rapid.IntRange(0, 1).Draw(t, "session")]
			c.clock = c.clock.Add(time.Duration(rapid.IntRange(-20, 20).Draw(t, "jump")) * time.Second)
			switch rapid.SampledFrom([]string{"edit", "create", "rollback", "undo", "redo"}).Draw(t, "act") {
			case "edit":
				w.edit()
			case "create":
				next++
				w.create(c, next+next/50)
			case "rollback":
				e := c.state().Checkpoints()[rapid.IntRange(0, c.state().Len()-1).Draw(t, "target")]
				if !e.Safety {
					undo, redo = append(undo, w.now(c)), nil
					w.rollback(c, e.Step)
				}
			case "undo":
				walk(&undo, &redo, w.undo)
			case "redo":
				walk(&redo, &undo, w.redo)
			}
			w.lists(len(undo), len(redo))
		}
	})
}
