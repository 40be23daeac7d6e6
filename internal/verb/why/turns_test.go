package why

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// resume lets a session go on with a prompt, which sees what became of a.go meanwhile.
func resume(w *verbtest.World, session string) name.ID {
	w.Helper()
	return w.Create(create.Request{Session: session, Trigger: "prompt", Message: "before: more", Agent: &record.Agent{Name: "claude", Session: session, Paths: map[string]string{"a.go": record.OutsideAgents}}}).Record.ID
}

// Two sessions take turns in one worktree, and a person edits between two turns. Each line is of the step or the
// person that added it, also where other functions have the same line, and the session that committed all of it saw
// only that it came from outside.
func TestTurns(t *testing.T) {
	w := world(t)
	var want []name.ID
	var file []string
	add := func(at int, function string, make func(text string) name.ID) {
		lines := strings.SplitAfter(fmt.Sprintf("func %s() error {\n\tif err := do(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n", function), "\n")
		lines = lines[:len(lines)-1]
		at *= len(lines)
		file = slices.Insert(file, at, lines...)
		want = slices.Insert(want, at, slices.Repeat([]name.ID{make(strings.Join(file, ""))}, len(lines))...)
	}
	by := func(session string) func(string) name.ID {
		return func(text string) name.ID { return step(w, session, "a.go", text) }
	}
	add(0, "one", by("a"))
	add(1, "two", by("a"))
	resume(w, "b")
	add(1, "three", by("b"))
	add(0, "four", by("b"))
	resume(w, "a")
	add(2, "five", by("a"))
	add(5, "six", func(text string) name.ID {
		w.Write("a.go", text)
		return resume(w, "c")
	})
	add(3, "seven", by("c"))
	resume(w, "b")
	commit(w, ann, "All")

	var got []name.ID
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(w.Dir, "a.go")})
		for _, l := range lines {
			got = append(got, l.Claim().Checkpoint)
		}
		return err
	})
	for i, id := range want {
		if i >= len(got) || got[i] != id {
			t.Errorf("line %d %q is not of %s, but of %q", i+1, file[i], id, got[min(i, len(got)-1)])
		}
	}
}
