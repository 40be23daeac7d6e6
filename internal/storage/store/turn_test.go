package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
)

// waits reports whether a writer that begins now waits for another one's turn. Where it has to, it waits
// until its context ends.
func (f *fixture) waits(has bool) bool {
	ctx, cancel := context.WithCancel(f.Context())
	if has {
		cancel()
	}
	defer cancel()
	began := time.Now()
	return errors.Is(f.turn().await(ctx, 1), context.Canceled) || time.Since(began) >= turnWait
}

// A writer that has lost enough races goes first, and others wait for it.
func TestTurn(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{})
	slow := f.open(f.Dir)
	tries := 0
	res, err := slow.Transact(t.Context(), "demo", func(context.Context, View) (Change, error) {
		if tries++; tries <= turnAfter {
			if f.waits(false) {
				t.Errorf("it has the turn at try %d", tries)
			}
			f.create("demo", milestone{}) // and so this try loses
		} else if !f.waits(true) {
			t.Error("another writer does not wait")
		}
		return Change{Events: []journal.Event{{Kind: journal.KindPin, Time: slow.Now(), Actor: "Ann <ann@example.com>", Checkpoint: id}}}, nil
	})
	if err != nil || res.Tries != turnAfter+1 {
		t.Errorf("after %d tries: %v", res.Tries, err)
	}
	if f.waits(false) {
		t.Error("the turn was not given back")
	}
}

// The turn of a killed process does not make anybody wait.
func TestTurnOfTheDead(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	f.Write(f.path("checkpoint", "turn"), "")
	if f.waits(false) {
		t.Error("a turn that nobody has is waited for")
	}
	next := f.turn()
	if err := next.await(t.Context(), turnAfter+1); err != nil || !f.waits(true) {
		t.Errorf("it was not taken over: %v", err)
	}
	next.end()
}
