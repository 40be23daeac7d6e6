package store

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
)

// waits reports whether a writer that begins now waits for another one's turn. Its context is
// cancelled, so waiting ends with that error.
func (f *fixture) waits() bool {
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	return errors.Is(f.turn().await(ctx, 1), context.Canceled)
}

// A writer that has lost enough races goes first, and others wait for it.
func TestTurn(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{})
	path := f.path("checkpoint", "turn")
	slow := f.open(f.Dir)
	tries := 0
	res, err := slow.Transact(t.Context(), "demo", func(context.Context, View) (Change, error) {
		if tries++; tries <= turnAfter {
			if f.waits() {
				t.Errorf("it has the turn at try %d", tries)
			}
			f.create("demo", milestone{}) // and so this try loses
		} else {
			now := time.Now()
			if err := os.Chtimes(path, now, now); err != nil { // in case this process was held up
				t.Error(err)
			}
			if !f.waits() {
				t.Error("another writer does not wait")
			}
		}
		return Change{Events: []journal.Event{{Kind: journal.KindPin, Time: slow.Now(), Actor: "Ann <ann@example.com>", Checkpoint: id}}}, nil
	})
	if err != nil || res.Tries != turnAfter+1 {
		t.Errorf("after %d tries: %v", res.Tries, err)
	}
	if _, err := os.Lstat(path); err == nil || f.waits() {
		t.Error("the turn was not given back")
	}
}

// The turn of a killed process does not make anybody wait.
func TestTurnOfTheDead(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	path := f.path("checkpoint", "turn")
	f.Write(path, "")
	if !f.waits() {
		t.Error("a fresh turn is not respected")
	}
	old := time.Now().Add(-turnFresh)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if f.waits() {
		t.Error("an old turn is waited for")
	}
	dead := f.turn()
	if dead.claim(); dead.stop == nil {
		t.Error("it was not taken over")
	}
	dead.end()
}
