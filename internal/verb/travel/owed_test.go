package travel_test

import (
	"context"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/travel"
)

// A prune of more checkpoints than one push deletes arrives with one push, and the journal moves with each part.
func TestLargePruneArrives(t *testing.T) {
	defer travel.DeleteAtMost(2)()
	w := withRemote(t)
	for range 6 {
		w.Save("one")
	}
	push := func() (answer *travel.Answer) {
		w.Must(func(ctx context.Context, s *checkpoint.Service) (err error) {
			answer, err = travel.Push(ctx, s, travel.Request{})
			return err
		})
		return answer
	}
	push()
	there := func() int {
		return strings.Count(w.Git("-C", w.remote, "for-each-ref", "--format=%(refname)", "refs/checkpoints"), "/cp-")
	}
	if there() != 6 {
		t.Fatal("the remote has", there())
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := retain.Prune(ctx, s, retain.PruneRequest{Keep: new(1)})
		return err
	})
	push()
	if there() != 1 {
		t.Error("the remote still has", there())
	}
	before := w.Git("for-each-ref", "refs/checkpoints")
	push()
	if after := w.Git("for-each-ref", "refs/checkpoints"); after != before {
		t.Error("a push that owes nothing wrote something")
	}

	// A remote that takes no deletions is owed nothing, and gets no prune with each push.
	w.Git("-C", w.remote, "config", "receive.denyDeletes", "true")
	w.Save("two")
	w.Save("three")
	push()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := retain.Prune(ctx, s, retain.PruneRequest{Keep: new(1)})
		return err
	})
	push()
	before = w.Git("for-each-ref", "refs/checkpoints")
	push()
	if after := w.Git("for-each-ref", "refs/checkpoints"); after != before {
		t.Error("a push to a remote that keeps everything wrote something")
	}
}
