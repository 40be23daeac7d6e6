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
				lines, err := Lines(ctx, s, Request{File: filepath.Join(w.Dir, "a.go")})
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
