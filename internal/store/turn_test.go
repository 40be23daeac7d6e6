package store

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"git-checkpoint/internal/journal"
)

// A writer that takes long has its turn beside one that never stops.
func TestTurn(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{})
	slow := f.open(f.dir)
	slow.Tries = turnAfter + 2
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		var err error
		for err == nil {
			_, _, err = create(ctx, f.Store, "demo", milestone{})
		}
		ended <- err
	}()
	res, err := slow.Transact(t.Context(), "demo", func(context.Context, View) (Change, error) {
		time.Sleep(300 * time.Millisecond)
		return Change{Events: []journal.Event{{Kind: journal.KindPin, Time: slow.Now(), Actor: "Ann <ann@example.com>", Checkpoint: id}}}, nil
	})
	stop()
	if ended := <-ended; !errors.Is(ended, context.Canceled) {
		t.Error(ended)
	}
	if err != nil || res.Tries <= turnAfter {
		t.Errorf("after %d tries: %v", res.Tries, err)
	}
	if _, err := os.Lstat(f.path("checkpoint", "turn")); err == nil {
		t.Error("the turn was not given back")
	}
}

// A turn of one that was killed holds nobody up.
func TestTurnOfTheDead(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	path := f.path("checkpoint", "turn")
	f.write(path, "")
	began := time.Now()
	f.create("demo", milestone{})
	if took := time.Since(began); took > 10*turnFresh {
		t.Errorf("it was waited for: %s", took)
	}
	dead := f.turn()
	if dead.take(); dead.stop == nil {
		t.Error("it was not taken over")
	}
	dead.end()
}
