package travel_test

import (
	"context"
	"fmt"
	"path"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/travel"
)

// What the listings of both sides say of a session that two clones had in common, and what they say after
// a sync: nothing is left to do, and a conflict stays.
func TestWhatListingsSay(t *testing.T) {
	for what, k := range map[string]struct {
		since func(w *world, id name.ID) // since the sync of the checkpoint with this id
		want  string                     // state, to push, to fetch, conflicts
		after string                     // after a sync; empty: nothing to do
	}{
		"the same":       {func(*world, name.ID) {}, "up-to-date 0 0 0", ""},
		"one made here":  {func(w *world, _ name.ID) { w.Save("here") }, "ahead 1 0 0", ""},
		"one made there": {func(w *world, _ name.ID) { w.elsewhere() }, "behind 0 1 0", ""},
		"both":           {func(w *world, _ name.ID) { w.elsewhere(); w.Save("here"); w.Save("here") }, "diverged 2 1 0", ""},
		"deleted here":   {func(w *world, id name.ID) { w.delete(id) }, "ahead 0 0 0", ""},
		"a dead ref left here": {func(w *world, id name.ID) {
			commit := w.Git("rev-parse", ref(id))
			w.delete(id)
			w.sync()
			w.Git("update-ref", ref(id), commit)
		}, "up-to-date 0 0 0", ""},
		"its ref lost here":  {func(w *world, id name.ID) { w.Git("update-ref", "-d", ref(id)) }, "behind 0 1 0", ""},
		"its ref lost there": {func(w *world, id name.ID) { w.Git("-C", w.remote, "update-ref", "-d", ref(id)) }, "ahead 1 0 0", ""},
		"all lost there": {func(w *world, id name.ID) {
			w.Git("-C", w.remote, "update-ref", "-d", ref(id))
			w.Git("-C", w.remote, "update-ref", "-d", journal)
		}, "local 1 0 0", ""},
		"all lost here":       {func(w *world, id name.ID) { w.Git("update-ref", "-d", ref(id)); w.Git("update-ref", "-d", journal) }, "remote 0 1 0", ""},
		"another commit here": {func(w *world, id name.ID) { w.Git("update-ref", ref(id), "HEAD") }, "up-to-date 0 0 1", "up-to-date 0 0 1"},
	} {
		t.Run(what, func(t *testing.T) {
			w := withRemote(t)
			id := w.Save("one")
			w.sync()
			k.since(w, id)
			if got := w.listings(); got != k.want {
				t.Errorf("got %s, want %s", got, k.want)
			}
			err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
				_, err := travel.Sync(ctx, s, travel.Request{})
				return err
			})
			if k.after == "" {
				k.after = "up-to-date 0 0 0"
			} else if err == nil {
				t.Error("the sync says nothing of a conflict")
			}
			if got := w.listings(); got != k.after {
				t.Errorf("after a sync: got %s, want %s (%v)", got, k.after, err)
			}
		})
	}
}

const journal = "refs/checkpoints/main/journal"

func ref(id name.ID) string { return string(name.CheckpointRef("main", id)) }

// listings compares the session main here and at the remote.
func (w *world) listings() (said string) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		all, err := travel.CompareRemote(ctx, s, travel.Request{})
		for _, r := range all {
			said += fmt.Sprint(r.State, " ", r.ToPush, " ", r.ToFetch, " ", len(r.Conflicts))
		}
		return err
	})
	return said
}

// sync brings both sides to the same.
func (w *world) sync() {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := travel.Sync(ctx, s, travel.Request{})
		return err
	})
}

// elsewhere makes a checkpoint in a clone of its own, and syncs it.
func (w *world) elsewhere() {
	w.Helper()
	here := w.Dir
	defer func() { w.Dir = here }()
	clone := path.Join(w.Root, "clone")
	w.Git("clone", "-q", here, clone)
	w.Dir = clone
	w.Git("remote", "set-url", "origin", w.remote)
	w.sync()
	w.Create(create.Request{Message: "elsewhere", Session: "main"}) // a clone goes on in a session that it did not begin only by name
	w.sync()
}

// delete deletes a checkpoint.
func (w *world) delete(id name.ID) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, s, "main", []string{string(id)})
		return err
	})
}
