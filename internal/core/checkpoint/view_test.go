package checkpoint_test

import (
	"context"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/verb/repair"
)

// What is written after a view was taken is not reported as lost: this worktree has seen it, and
// the view is older. The checkpoints of the view are proven from the view.
func TestViewOlderThanJournal(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	c.create()
	var view *proof.View
	look := func(ctx context.Context, s *checkpoint.Service) (err error) {
		view, err = proof.ReadView(ctx, s.Store, "")
		return err
	}
	count := func(want int) {
		t.Helper()
		c.must(func(ctx context.Context, s *checkpoint.Service) error {
			p, err := repair.OpenProof(ctx, s.Store, demo, view)
			if err != nil {
				return err
			}
			if len(p.Lost)+len(p.Findings) > 0 || p.State.Len() != want || p.Subjects().Len() != want {
				t.Errorf("%d checkpoints, lost %v, findings %v; want %d", p.State.Len(), p.Lost, p.Findings, want)
			}
			return nil
		})
	}
	c.must(look)
	count(1)
	c.create()
	count(2)
	if got := view.Sessions(); len(got) != 1 || got[0] != demo {
		t.Errorf("sessions of the view: %v", got)
	}
}

// The sessions of a view are those of its refs, once each, also where one's name begins
// another's.
func TestViewSessions(t *testing.T) {
	w := newClones(t, 1, 0)
	c := w.all[0]
	c.create()
	head := w.git(c.dir, "rev-parse", "HEAD")[:40]
	for _, ref := range []string{
		"demo-2/journal", "demo.x/archive", "dem/cp-01-20260101T000000000Z-0000", "dem/cp-02-20260101T000000000Z-0000",
		"stray/other", "a/b/journal",
	} {
		w.git(c.dir, "update-ref", name.CheckpointRoot+ref, head)
	}
	w.git(c.dir, "pack-refs", "--all")
	w.git(c.dir, "update-ref", name.CheckpointRoot+"demo+/journal", head)
	w.git(c.dir, "update-ref", name.CheckpointRoot+"demo0/journal", head)
	c.must(func(ctx context.Context, s *checkpoint.Service) error {
		view, err := proof.ReadView(ctx, s.Store, "")
		if err != nil {
			return err
		}
		want := []name.Session{"dem", "demo-2", "demo.x", "demo", "demo0"} // by their refs
		got := view.Sessions()
		if len(got) != len(want) {
			t.Fatalf("sessions %q, want %q", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("sessions %q, want %q", got, want)
			}
		}
		return nil
	})
}
