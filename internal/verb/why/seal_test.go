package why

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// twoSteps makes a repository in which two steps of an agent each added a line of a file.
func twoSteps(t *testing.T) (*verbtest.World, [2]name.ID) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	var ids [2]name.ID
	for i, text := range []string{"first line of the agent\n", "first line of the agent\nsecond line of the agent\n"} {
		w.Write("a.go", text)
		ids[i] = w.Create(create.Request{Session: "agent", Trigger: "tool", Message: "Edit a.go", Agent: &record.Agent{Name: "claude", Session: "s1", Paths: map[string]string{"a.go": record.Named}}}).Record.ID
	}
	w.Env = append(w.Env, "GIT_AUTHOR_DATE=2026-12-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-12-01T00:00:00Z") // after the checkpoints
	w.Git("add", "a.go")
	w.Git("commit", "-qm", "Both")
	return w, ids
}

// behindFile returns the checkpoint of each line of a file.
func behindFile(w *verbtest.World, file string) (ids []name.ID) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(w.Dir, file)})
		for _, l := range lines {
			ids = append(ids, l.Claim().Checkpoint)
		}
		return err
	})
	return ids
}

// An index that somebody else wrote is not used, however well it is made: it is made again.
func TestIndexIsSealed(t *testing.T) {
	w, ids := twoSteps(t)
	want := ids[:]
	if got := behindFile(w, "a.go"); !slices.Equal(got, want) {
		t.Fatalf("lines are of %q, not %q", got, want)
	}
	at := filepath.Join(w.Dir, ".git", "checkpoint", indexFile)
	sound, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	x := decode(sound[:len(sound)-sealSize])
	// The names of the two checkpoints change places.
	x.Checkpoints[0].ID, x.Checkpoints[1].ID = x.Checkpoints[1].ID, x.Checkpoints[0].ID
	swapped, err := x.encode()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := sealed(slices.Clone(swapped), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	var key []byte
	w.Must(func(_ context.Context, s *checkpoint.Service) error {
		key, err = clearance.Key(s.Repo)
		return err
	})
	earlier, err := sealed(append([]byte("gcwhy02\n"), sound[len(magic):len(sound)-sealSize]...), key)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(sound)
	flipped[len(flipped)/2] ^= 1
	for what, data := range map[string][]byte{
		"another version": earlier, "no seal": swapped, "another seal": foreign, "the old seal": append(swapped, sound[len(sound)-sealSize:]...),
		"a changed byte": flipped, "a cut end": sound[:len(sound)-1], "a bit of it": sound[:20], "nothing": {}, "more behind it": append(slices.Clone(sound), 0),
	} {
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := behindFile(w, "a.go"); !slices.Equal(got, want) {
			t.Errorf("with %s: lines are of %q, not %q", what, got, want)
		}
		if now, err := os.ReadFile(at); err != nil || decode(now[:max(0, len(now)-sealSize)]) == nil {
			t.Errorf("with %s: no index was made again: %v", what, err)
		}
	}
}

// What a question costs does not grow with the sessions whose work came to the branch before: a line that
// all of them have, too, needs few comparisons of files.
func TestFewComparisons(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	const sessions = 16
	text := ""
	for i := range sessions {
		w.Later(time.Hour)
		text += fmt.Sprintf("func name%d() {\n\treturn nil\n}\n\n", i)
		w.Write("a.go", text)
		w.Create(create.Request{Session: fmt.Sprint("agent-", i), Trigger: "tool", Message: "Edit a.go", Agent: &record.Agent{Name: "claude", Session: fmt.Sprint("s", i), Paths: map[string]string{"a.go": record.Named}}})
		w.Must(func(_ context.Context, s *checkpoint.Service) error {
			at := s.Store.Now().Format(time.RFC3339)
			w.Env = append(w.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
			return nil
		})
		w.Git("add", "a.go")
		w.Git("commit", "-qm", fmt.Sprint("Work ", i))
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		j, err := newJudge(ctx, s.Rules, Request{})
		if err != nil {
			return err
		}
		said, _, err := blamed(ctx, s.Store, Request{}, "a.go")
		if err != nil {
			return err
		}
		for i, b := range said {
			c := j.commits.arrivalOf(ctx, b.Commit)
			claims := j.claims(ctx, j.commits.line(ctx, c, b))
			if want := name.Session(fmt.Sprint("agent-", i/4)); len(claims) != 1 || claims[0].Session != want {
				t.Errorf("line %d has %d claims, not that of %s", i+1, len(claims), want)
			}
		}
		if j.files.diffs > 4*sessions {
			t.Errorf("%d comparisons for %d sessions", j.files.diffs, sessions)
		}
		return nil
	})
}
