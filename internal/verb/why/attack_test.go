package why

import (
	"context"
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

// Where git shows another text than a commit has, no line is taken for the one that has its number there.
func TestShownOtherwise(t *testing.T) {
	for what, hide := range map[string]func(*verbtest.World){
		"textconv": func(w *verbtest.World) {
			w.Write(".git/info/attributes", "a.go diff=turned\n")
			w.Git("config", "diff.turned.textconv", "sort -r")
		},
		"a replaced file": func(w *verbtest.World) {
			w.Write("turned", "second line of the agent\nfirst line of the agent\n")
			w.Git("replace", w.Git("rev-parse", "HEAD:a.go"), w.Git("hash-object", "-w", "turned"))
		},
		"a replaced commit": func(w *verbtest.World) {
			w.Write("a.go", "second line of the agent\nfirst line of the agent\n")
			w.Git("add", "a.go")
			w.Git("replace", "HEAD", w.Git("commit-tree", "-p", "HEAD^", "-m", "Both", w.Git("write-tree")))
		},
	} {
		t.Run(what, func(t *testing.T) {
			w, ids := twoSteps(t)
			hide(w)
			of := map[string]name.ID{"first line of the agent": ids[0], "second line of the agent": ids[1]}
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(w.Dir, "a.go")})
				for _, l := range lines {
					if got := l.Claim().Checkpoint; got != "" && got != of[l.Text] {
						t.Errorf("line %d %q is said to be of %s", l.Line, l.Text, got)
					}
				}
				return err
			})
		})
	}
}

// The lines of a checkout with other line ends are those of the repository, also where a line is there several
// times.
func TestOtherLineEnds(t *testing.T) {
	w, _ := twoSteps(t)
	const text = "}\nfirst line of the agent\n}\nsecond line of the agent\n"
	w.Write("b.go", text)
	id := w.Create(create.Request{Session: "agent", Trigger: "tool", Message: "Write b.go", Agent: &record.Agent{Name: "claude", Session: "s1", Paths: map[string]string{"b.go": record.Named}}}).Record.ID
	w.Git("add", "b.go")
	w.Env = append(w.Env, "GIT_AUTHOR_DATE=2026-12-02T00:00:00Z", "GIT_COMMITTER_DATE=2026-12-02T00:00:00Z")
	w.Git("commit", "-qm", "More")
	want := []name.ID{id, id, id, id}
	if got := behindFile(w, "b.go"); !slices.Equal(got, want) {
		t.Fatalf("lines are of %q", got)
	}
	w.Git("config", "core.autocrlf", "true")
	w.Remove("b.go")
	w.Git("checkout", "-q", "b.go")
	if w.Read("b.go") != strings.ReplaceAll(text, "\n", "\r\n") {
		t.Fatalf("the checkout has %q", w.Read("b.go"))
	}
	if got := behindFile(w, "b.go"); !slices.Equal(got, want) {
		t.Errorf("with other line ends lines are of %q", got)
	}
}

// Two sessions that typed the same line at the same place are both named or none is, and a line of a person with
// another address is nobody's. Odd names, a file without a final newline and one with zeros harm nothing.
func TestEqualLinesOfTwo(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	const line = "the line that both agents typed"
	var ids []name.ID
	for _, of := range []string{"one", "two"} {
		w.Write("a.go", line+"\n")
		w.Create(create.Request{Session: of, Trigger: "tool", Message: "Edit a.go", Agent: &record.Agent{Name: "claude", Session: of, Paths: map[string]string{"a.go": record.Named}}})
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			found, err := s.Sessions.Resolve(ctx, of, "@")
			if err == nil {
				ids = append(ids, found.Entry.Checkpoint)
			}
			return err
		})
		w.Remove("a.go")
		w.Create(create.Request{Session: of, Trigger: "prompt", Message: "before: next", Agent: &record.Agent{Name: "claude", Session: of, Paths: map[string]string{"a.go": record.OutsideAgents}}})
	}
	w.Write("a.go", line+"\n")
	w.Env = append(w.Env, "GIT_AUTHOR_DATE=2026-12-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-12-01T00:00:00Z")
	for _, odd := range []string{"with space\nand newline.go", "-dash.go", "zero.bin"} {
		w.Write(odd, "x\x00y")
	}
	w.Git("add", "-A")
	w.Git("commit", "-qm", "Typed again")
	if got := behindFile(w, "a.go"); len(got) != 1 || got[0] != "" {
		t.Errorf("the line is of %q; both agents' lines were removed (%q)", got, ids)
	}
	for _, odd := range []string{"with space\nand newline.go", "-dash.go", "zero.bin"} {
		if got := behindFile(w, odd); len(got) != 1 || got[0] != "" {
			t.Errorf("%q is of %q", odd, got)
		}
	}
	w, _ = twoSteps(t)
	w.Write("a.go", "first line of the agent\nsecond line of the agent\nand a third\n")
	w.Create(create.Request{Session: "agent", Trigger: "tool", Message: "Edit a.go", Agent: &record.Agent{Name: "claude", Session: "s1", Paths: map[string]string{"a.go": record.Named}}})
	w.Env = append(w.Env, "GIT_AUTHOR_DATE=2026-12-02T00:00:00Z", "GIT_COMMITTER_DATE=2026-12-02T00:00:00Z", "GIT_AUTHOR_NAME=Bob", "GIT_AUTHOR_EMAIL=bob@example.com")
	w.Git("commit", "-qam", "Bob's")
	if got := behindFile(w, "a.go"); len(got) != 3 || got[0] == "" || got[2] != "" {
		t.Errorf("after Bob's commit lines are of %q", got)
	}
}
