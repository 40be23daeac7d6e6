package expunge

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// What the user's own refs and index hold is named, also where the name of a ref begins like one of
// ours, and our refs are not.
func TestYours(t *testing.T) {
	s := verbtest.Unborn(t, "repo").Open()
	if err := os.WriteFile(filepath.Join(s.Repo.WorkTree, "config.env"), []byte("key\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	made, err := create.Checkpoint(t.Context(), s, create.Request{Message: "one"})
	if err != nil {
		t.Fatal(err)
	}
	plan := func() *Answer {
		t.Helper()
		p, err := Prepare(t.Context(), s, Request{Target: "config.env"})
		if err != nil {
			t.Fatal(err)
		}
		return p.answer
	}
	if a := plan(); len(a.Checkpoints) != 1 || len(a.Yours) != 0 {
		t.Fatalf("%+v", a)
	}
	var updates []git.Update
	for _, ref := range []name.Ref{"refs/notes/checkpoints-mine", "refs/heads/kept", "refs/checkpoint-incoming/1-1/0"} {
		updates = append(updates, git.Update{Ref: ref, New: made.Commit})
	}
	if err := s.Repo.Refs.Update(t.Context(), updates); err != nil {
		t.Fatal(err)
	}
	if a := plan(); !slices.Equal(a.Yours, []string{"refs/heads/kept", "refs/notes/checkpoints-mine"}) {
		t.Errorf("%q", a.Yours)
	}
}
