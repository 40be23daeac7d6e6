package checkpoint_test

import (
	"context"
	"slices"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/retain"
)

// A checkpoint that is pinned after a prune or delete was planned stays. Each removed checkpoint is
// reported by the process that removed it.
func TestRemovedMeanwhile(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	pinned, dropped, pruned, kept := c.create(), c.create(), c.create(), c.create()
	one := 1
	var answer *retain.PruneAnswer
	err := c.between("doomed", func(ctx context.Context, s *checkpoint.Service) (err error) {
		answer, err = retain.Prune(ctx, s, retain.PruneRequest{Session: string(demo), Keep: &one})
		return err
	}, func() {
		if err := c.pin(pinned); err != nil {
			t.Error(err)
		}
		if err := c.drop(dropped); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(list []retain.Judged) (out []name.ID) {
		for _, j := range list {
			out = append(out, j.ID)
		}
		slices.Sort(out)
		return out
	}
	if got := ids(answer.Pruned); !slices.Equal(got, []name.ID{pruned}) {
		t.Errorf("reported as pruned: %v", got)
	}
	if got := ids(answer.Kept); !slices.Equal(got, []name.ID{pinned, kept}) {
		t.Errorf("reported as kept: %v", got)
	}
	for id, dead := range map[name.ID]bool{pinned: false, dropped: true, pruned: true, kept: false} {
		if got := c.state().Entry(id).Dead; got != dead {
			t.Errorf("%s: dead is %v", id, got)
		}
	}
	remove := func(ctx context.Context, s *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, s, string(demo), []string{string(kept)})
		return err
	}
	err = c.between("doomed", remove, func() {
		if err := c.pin(kept); err != nil {
			t.Error(err)
		}
	})
	if checkpoint.KindOf(err) != checkpoint.KindRefused || c.state().Entry(kept).Dead {
		t.Errorf("what is pinned was deleted: %v", err)
	}
	if err := c.unpin(kept); err != nil {
		t.Error(err)
	}
	err = c.between("doomed", remove, func() {
		if err := c.drop(kept); err != nil {
			t.Error(err)
		}
	})
	if checkpoint.KindOf(err) != checkpoint.KindNotFound {
		t.Errorf("what another one deleted: %v", err)
	}
}
