package journal

import (
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
)

// A restore of some paths moves nothing, wherever it stands in the order, and its undo and redo discard
// nothing, also after later creates.
func TestRestoreOfPathsStays(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	b.pull(a)
	restore := a.write(Event{Kind: KindRollback, Mode: ModePaths, From: id(2), To: id(2), Files: id(1), Safety: a.safe()})
	b.create(3) // before the restore in the order, or after it: nobody tells
	b.create(4)
	a.pull(b)
	want(t, a.state(), "live 1,2,3,4 at 4")
	a.create(5)
	a.create(6)
	for _, of := range []string{"undo", "redo"} {
		s := a.state()
		p, err := s.PlanUndoOf(undoTarget(s, "a"))
		if err != nil || len(p.Discard)+len(p.Restore) > 0 || p.From != id(6) || p.Target != id(6) {
			t.Fatal(of, p, err)
		}
		a.write(Event{Kind: KindUndo, Mode: ModePaths, From: p.From, To: p.Target, Undoes: p.Undoes.OID, Safety: a.safe()})
		want(t, a.state(), "live 1,2,3,4,5,6 at 6")
	}
	if !restore.Stays() {
		t.Error("it does not say so")
	}
	// Earlier versions went to the checkpoint with the same mode.
	a.write(Event{Kind: KindRollback, Mode: ModePaths, From: id(6), To: id(1), Discard: []name.ID{id(2)}, Safety: a.safe()})
	want(t, a.state(), "live 1,3,4,5,6 at 1 discarded 2")
}

// The trailers of a create count for that create, also in a journal whose events stand in another order
// than its commits.
func TestTrailersInAMergedJournal(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	a.create(2)
	b.pull(a)
	a.clock = a.clock.Add(time.Minute)
	a.create(6)
	based := checkpoint(KindCreate, 3, id(2))
	based.Extra = []Trailer{{Key: TrailerBase, Value: "HEAD"}}
	b.write(based)
	b.create(4)
	joining := checkpoint(KindCreate, 5, id(4))
	joining.Trigger, joining.Extra = "promote", []Trailer{{Key: TrailerJoins, Value: string(id(6))}}
	b.write(joining)
	a.pull(b)
	s := a.log.FoldAt("b")
	if heads := s.Heads(); len(heads) != 1 || heads[0].Step != 5 {
		t.Error("the heads are", heads)
	}
	if _, discard, _, err := s.RollbackPlan(id(1)); err != nil || !slices.Equal(discard, []name.ID{id(3), id(4), id(5)}) {
		t.Error("a rollback leaves", discard, err)
	}
}
