package checkpoint_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/scripttest"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/travel"
)

// These tests are counter-examples: each of them fails without one of the rules by which clones
// agree. The rules of the fold itself are tested in package journal.

func (c *clone) ok(err error) {
	c.w.t.Helper()
	if err != nil {
		c.w.t.Fatalf("%s: %v", filepath.Base(c.dir), err)
	}
}

func (c *clone) live() []name.ID {
	var ids []name.ID
	for _, e := range c.state().Checkpoints() {
		if e.Live {
			ids = append(ids, e.Checkpoint)
		}
	}
	return ids
}

// This fails if a rollback discards by position instead of by list: create 1, 2; rollback to 1;
// create another 2; undo.
func TestUndoBetweenClones(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	one, two := a.create(), a.create()
	a.ok(a.rollback(one))
	again := a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	a.ok(a.undo())
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	for _, c := range w.all {
		if got := c.live(); !slices.Equal(got, []name.ID{one, two}) {
			t.Errorf("live are %v; %s should be discarded", got, again)
		}
	}
}

// Without the rule that a target is always live, the newest checkpoint would be a discarded one. Each
// clone stands where it went.
func TestRollbacksAtTheSameTime(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	one, two, _ := a.create(), a.create(), a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	a.ok(a.rollback(one))
	b.ok(b.rollback(two))
	for range 2 {
		a.ok(a.sync("r0"))
		b.ok(b.sync("r0"))
	}
	for _, c := range w.all {
		if e := c.state().NewestEntry(); e == nil || !e.Live || e.Checkpoint != two {
			t.Errorf("the newest is %+v, not %s", e, two)
		}
	}
	if x, y := a.state().Place, b.state().Place; x != one || y != two {
		t.Errorf("they stand at %s and %s, not at %s and %s", x, y, one, two)
	}
}

// A tombstone that did not know a pin is void for good. Otherwise x would vanish everywhere when it
// is unpinned.
func TestVoidTombstone(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	x := a.create()
	a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	b.ok(b.drop(x))
	a.ok(a.pin(x))
	for range 2 {
		a.ok(a.sync("r0"))
		b.ok(b.sync("r0"))
	}
	if w.refs(b.dir)[string(x)] == "" {
		t.Fatalf("%s, which was pinned, did not come back", x)
	}
	a.ok(a.unpin(x))
	for range 2 {
		a.ok(a.sync("r0"))
		b.ok(b.sync("r0"))
	}
	for _, dir := range []string{a.dir, b.dir, w.remotes[0]} {
		if w.refs(dir)[string(x)] == "" {
			t.Errorf("%s is gone from %s", x, filepath.Base(dir))
		}
	}
}

// between runs f once, when a step is reached.
func (c *clone) between(step string, travel func(context.Context, *checkpoint.Service) error, f func()) error {
	var once sync.Once
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		s.Between = func(at string) {
			if at == step {
				once.Do(f)
			}
		}
		return travel(ctx, s)
	})
}

func pushing(ctx context.Context, s *checkpoint.Service) error {
	_, err := travel.Push(ctx, s, travel.Request{Remote: "r0", Agree: agrees})
	return err
}

// A deletion at a remote that is not atomic with the journal would remove what was pinned in the
// meantime.
func TestAtomicDeletion(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	x := a.create()
	a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	b.ok(b.drop(x))
	// B has planned to delete x; A's pin lands before it is sent.
	err := b.between("planned push", pushing, func() {
		a.ok(a.pin(x))
		a.ok(a.sync("r0"))
	})
	b.ok(err)
	if w.refs(w.remotes[0])[string(x)] == "" {
		t.Fatalf("the remote's copy of %s is gone", x)
	}
	b.ok(b.sync("r0"))
	if w.refs(b.dir)[string(x)] == "" {
		t.Errorf("%s did not come back", x)
	}
}

// If the remote does not support atomic pushes, nothing is deleted there.
func TestNoAtomicPushNoDeletion(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	w.git(w.remotes[0], "config", "receive.advertiseAtomic", "false")
	x := a.create()
	y := a.create()
	a.ok(a.sync("r0"))
	a.ok(a.drop(x))
	a.ok(a.sync("r0"))
	if there := w.refs(w.remotes[0]); there[string(x)] == "" || there[string(y)] == "" || there["journal"] != w.refs(a.dir)["journal"] {
		t.Fatalf("the remote has %v", there)
	}
	b.ok(b.sync("r0"))
	if here := w.refs(b.dir); here[string(x)] != "" || here[string(y)] == "" {
		t.Errorf("a dead ref was brought, or a live one was not: %v", here)
	}
}

// A push sends what it planned and nothing newer. Otherwise the remote's journal would name a ref
// that it lacks.
func TestFixedPlan(t *testing.T) {
	w := newClones(t, 1, 1)
	a := w.all[0]
	a.create()
	late := name.ID("")
	a.ok(a.between("planned push", pushing, func() { late = a.create() }))
	there := w.refs(w.remotes[0])
	journal := w.git(w.remotes[0], "log", "--format=%B", "refs/checkpoints/demo/journal")
	if there[string(late)] != "" || strings.Contains(journal, string(late)) {
		t.Errorf("%s was sent with a plan that was older", late)
	}
	a.ok(a.push("r0"))
	if w.refs(w.remotes[0])[string(late)] == "" {
		t.Errorf("%s was not sent afterwards", late)
	}
}

// A push sends every ref that the clone has, whoever made it: the clone that made it may be gone.
func TestSendsWhatOthersMade(t *testing.T) {
	w := newClones(t, 2, 2)
	a, b := w.all[0], w.all[1]
	x := a.create()
	a.ok(a.push("r0"))
	b.ok(b.fetch("r0"))
	b.ok(b.push("r1"))
	if w.refs(w.remotes[1])[string(x)] == "" {
		t.Fatalf("%s is not at the other remote", x)
	}
	// A remote that was set back to an older backup gets everything again.
	w.git(w.remotes[0], "update-ref", "-d", "refs/checkpoints/demo/"+string(x))
	b.ok(b.push("r0"))
	if w.refs(w.remotes[0])[string(x)] == "" {
		t.Errorf("%s was not sent again", x)
	}
}

// Notes are not sent if the journal is refused. Otherwise two clones would rewrite them forever.
func TestNotesAfterTheJournal(t *testing.T) {
	w := newClones(t, 2, 1)
	hook := "#!/bin/sh\ncase \"$1\" in */journal) exit 1;; esac\n"
	if err := os.WriteFile(filepath.Join(w.remotes[0], "hooks", "update"), []byte(hook), 0o777); err != nil { // it has to run
		t.Fatal(err)
	}
	for _, c := range w.all {
		x := c.create()
		err := c.push("r0")
		if checkpoint.KindOf(err) != checkpoint.KindFailed || err == nil {
			t.Fatalf("a refused journal is %v", err)
		}
		if w.refs(w.remotes[0])[string(x)] == "" {
			t.Errorf("the refused journal kept %s back", x)
		}
	}
	if w.notes(w.remotes[0]) != "" {
		t.Error("notes were sent without their journal")
	}
}

// A ref that the remote refuses does not stop the journal from being sent, and is reported.
func TestRefusedRef(t *testing.T) {
	w := newClones(t, 1, 1)
	a := w.all[0]
	x, y := a.create(), a.create()
	hook := "#!/bin/sh\ncase \"$1\" in */" + string(x) + ") echo too secret >&2; exit 1;; esac\n"
	if err := os.WriteFile(filepath.Join(w.remotes[0], "hooks", "update"), []byte(hook), 0o777); err != nil { // it has to run
		t.Fatal(err)
	}
	var lines []travel.Line
	err := a.do(func(ctx context.Context, s *checkpoint.Service) error {
		found, err := travel.Push(ctx, s, travel.Request{Remote: "r0", Agree: agrees})
		lines = found.Lines
		return err
	})
	there := w.refs(w.remotes[0])
	if err == nil || there[string(x)] != "" || there[string(y)] == "" || there["journal"] == "" {
		t.Fatalf("%v; the remote has %v", err, there)
	}
	if !slices.ContainsFunc(lines, func(l travel.Line) bool {
		return l.Ref == name.CheckpointRef(demo, x) && l.Outcome == travel.OutcomeRejected && l.Message != ""
	}) {
		t.Errorf("%s is not named: %v", x, lines)
	}
}

// Two clones that merge the same two journals make the same commit, so that two remotes
// do not get a new merge each round for ever.
func TestMergesEnd(t *testing.T) {
	scripttest.Long(t)
	w := newClones(t, 2, 2)
	a, b := w.all[0], w.all[1]
	a.create()
	b.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r1"))
	for range 4 {
		a.ok(a.sync("r1"))
		b.ok(b.sync("r0"))
		a.ok(a.sync("r0"))
		b.ok(b.sync("r1"))
	}
	tip := w.refs(a.dir)["journal"]
	for _, dir := range append([]string{b.dir}, w.remotes...) {
		if got := w.refs(dir)["journal"]; got != tip {
			t.Errorf("%s is at %s, not %s", filepath.Base(dir), got, tip)
		}
	}
	if n := w.git(a.dir, "rev-list", "--count", "--min-parents=2", "refs/checkpoints/demo/journal"); n != "1" {
		t.Errorf("there are %s merges", n)
	}
}

// A checkpoint whose push was interrupted before the journal was sent is adopted. A rollback of who
// adopted it does not leave it behind: it is another clone's.
func TestAdopted(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	one := a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	x := a.create()
	w.git(a.dir, "push", "-q", w.remotes[0], "refs/checkpoints/demo/"+string(x)) // all that a kill left
	b.ok(b.sync("r0"))
	e := b.state().Entry(x)
	if e == nil || e.Event().Kind != "adopt" || b.state().Current != x {
		t.Fatalf("%s was not adopted: %+v", x, e)
	}
	b.ok(b.rollback(one))
	for range 2 {
		b.ok(b.sync("r0"))
		a.ok(a.sync("r0"))
	}
	for _, c := range w.all {
		if !slices.Contains(c.live(), x) {
			t.Errorf("%s is not live after the rollback of another clone", x)
		}
	}
}

// The newest safety checkpoint of each worktree stays, and worktrees go by their id:
// every clone's main worktree has the same name.
func TestSafetyOfAnotherClone(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	one, _ := a.create(), a.create()
	a.ok(a.rollback(one))
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	b.ok(b.rollback(one))
	b.must(func(ctx context.Context, s *checkpoint.Service) error {
		keep := 0
		_, err := retain.Prune(ctx, s, retain.PruneRequest{Session: string(demo), Keep: &keep, OlderThan: "0d"})
		return err
	})
	b.ok(b.sync("r0"))
	a.ok(a.sync("r0"))
	st := a.state()
	if undo := journal.NewWalk(a.worktree(), st).Undo; len(undo) != 1 || st.Entry(undo[0].Head.Safety).Dead {
		t.Error("the safety checkpoint of the other clone was pruned")
	}
}

func (c *clone) worktree() string {
	id := ""
	c.must(func(_ context.Context, s *checkpoint.Service) (err error) {
		id, err = s.Store.WorktreeID()
		return err
	})
	return id
}

// If the current checkpoint is pruned, the one before it becomes current, in every clone.
func TestCurrentFallsBack(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	one, two := a.create(), a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	b.ok(b.drop(two))
	b.ok(b.sync("r0"))
	a.ok(a.sync("r0"))
	for _, c := range w.all {
		if got := c.state().Current; got != one {
			t.Errorf("current is %q, not %s", got, one)
		}
	}
}

// The same id with another value is a conflict: both are kept, and named.
func TestSameIDOtherValue(t *testing.T) {
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	x := a.create()
	a.ok(a.sync("r0"))
	mine := w.refs(a.dir)[string(x)]
	parent := w.git(w.remotes[0], "rev-parse", mine+"^1") // a push without more would go forward from it
	w.git(w.remotes[0], "update-ref", "refs/checkpoints/demo/"+string(x), parent)
	for verb, err := range map[string]error{"push": a.push("r0"), "fetch": a.fetch("r0"), "sync": a.sync("r0")} {
		if checkpoint.KindOf(err) != checkpoint.KindConflict {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if got := w.refs(w.remotes[0])[string(x)]; got != parent {
		t.Errorf("the remote's value was overwritten by %s", got)
	}
	if got := w.refs(a.dir)[string(x)]; got != mine {
		t.Errorf("ours was overwritten by %s", got)
	}
	if err := b.fetch("r0"); err == nil || w.refs(b.dir)[string(x)] != "" {
		t.Errorf("what no journal names was taken: %v", err)
	}
}

// Many clones push at once, and everything arrives.
func TestManyClonesAtOnce(t *testing.T) {
	count := 16
	if testing.Short() {
		count = 4
	}
	w := newClones(t, count, 1)
	var ids []name.ID
	for _, c := range w.all {
		ids = append(ids, c.create())
	}
	var running sync.WaitGroup
	errs := make([]error, len(w.all))
	for i, c := range w.all {
		running.Add(1)
		go func() {
			defer running.Done()
			errs[i] = c.push("r0")
		}()
	}
	running.Wait()
	there := w.refs(w.remotes[0])
	journal := w.git(w.remotes[0], "log", "--format=%B", "refs/checkpoints/demo/journal")
	for i, id := range ids {
		if errs[i] != nil || there[string(id)] == "" || !strings.Contains(journal, "Checkpoint: "+string(id)) {
			t.Errorf("%s: %v; it is there: %v, it is in the journal: %v", id, errs[i], there[string(id)] != "", strings.Contains(journal, string(id)))
		}
	}
	w.git(w.remotes[0], "fsck", "--strict")
}
