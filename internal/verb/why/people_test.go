package why

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
)

// A commit is its author's, also under another address of theirs that .mailmap knows or a host made, and if a tool of the
// agent made it under the agent's own name. With another address of a namesake it is nobody's.
func TestPeople(t *testing.T) {
	as := func(w *verbtest.World, who, mail string) {
		w.Env = append(w.Env, "GIT_AUTHOR_NAME="+who, "GIT_AUTHOR_EMAIL="+mail, "GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=some@where.example")
	}
	for what, c := range map[string]struct {
		who, mail string
		before    func(*verbtest.World)
		known     bool
	}{
		"the same":               {"Ada Example", "ada@example.org", nil, true},
		"a host's address":       {"Ada Example", "1234+ada@users.noreply.github.com", nil, true},
		"a host's, other name":   {"Eve Example", "1234+ada@users.noreply.github.com", nil, false},
		"a host's, a short name": {"Ada", "1234+ada@users.noreply.github.com", func(w *verbtest.World) { w.Env = append(w.Env, "GIT_AUTHOR_NAME=Ada") }, false},
		"a second address":       {"Ada Example", "ada@home.example", nil, false},
		"one in .mailmap": {"Ada Example", "ada@home.example", func(w *verbtest.World) {
			w.Write(".mailmap", "Ada Example <ada@example.org> <ada@home.example>\n")
		}, true},
	} {
		t.Run(what, func(t *testing.T) {
			w := world(t)
			w.Env = append(w.Env, "GIT_AUTHOR_NAME=Ada Example", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada Example", "GIT_COMMITTER_EMAIL=ada@example.org")
			if c.before != nil {
				c.before(w)
			}
			id := step(w, "agent", "a.go", agents)
			env := w.Env
			as(w, c.who, c.mail)
			later(w, time.Hour)
			w.Git("add", "a.go")
			w.Git("commit", "-qm", "A title (#7)")
			w.Env = env
			want := []name.ID{id}
			if !c.known {
				want = nil
			}
			if got := claimsOf(w, "a.go")["the line of the agent"]; !slices.Equal(got, want) {
				t.Errorf("the line is of %q, not %q", got, want)
			}
		})
	}
}

// later lets the next commit have the time of the clock, after a while.
func later(w *verbtest.World, d time.Duration) {
	w.Helper()
	w.Later(d)
	w.Must(func(_ context.Context, s *checkpoint.Service) error {
		at := s.Store.Now().Format(time.RFC3339)
		w.Env = append(w.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		return nil
	})
}

// A commit that a tool of the agent made is the agent's, whatever name it has; one that somebody else made then is not.
func TestCommitOfATool(t *testing.T) {
	w := world(t)
	id := step(w, "agent", "a.go", agents)
	was := w.Env
	w.Env = append(slices.Clone(was), "GIT_AUTHOR_NAME=claude", "GIT_AUTHOR_EMAIL=claude@agents.example", "GIT_COMMITTER_EMAIL=claude@agents.example")
	later(w, time.Minute)
	w.Git("add", "a.go")
	w.Git("commit", "-qm", "By the agent")
	w.Env = was
	w.Later(time.Minute)
	step(w, "agent", "b.go", "more\n")
	if got := claimsOf(w, "a.go")["the line of the agent"]; !slices.Equal(got, []name.ID{id}) {
		t.Errorf("the line is of %q, not %s", got, id)
	}
}

// A squash of several conversations, made elsewhere and with a title only, has the names of all, also where the clock of the
// one who made it is behind.
func TestSquashOfSeveral(t *testing.T) {
	for _, behind := range []time.Duration{0, 5 * time.Minute, time.Hour} {
		w := world(t)
		base := w.Git("rev-parse", "HEAD")
		w.Git("checkout", "-q", "-b", "topic")
		want := map[string]name.ID{}
		for _, of := range []string{"one", "two", "three"} {
			text := ""
			for _, n := range []string{"a", "b", "c"} {
				text += "func " + of + n + "() { return " + of + " }\n"
			}
			id := step(w, of, of+".go", text)
			for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
				want[line] = id
			}
			w.Later(time.Minute)
		}
		w.Git("add", "-A")
		tree := w.Git("write-tree")
		var at string
		w.Must(func(_ context.Context, s *checkpoint.Service) error {
			at = s.Store.Now().Add(-behind).Format(time.RFC3339)
			return nil
		})
		w.Env = append(w.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		made := w.Git("commit-tree", "-p", w.Git("commit-tree", "-p", base, "-m", "Other work", base+"^{tree}"), "-m", "A title (#7)", tree)
		w.Git("checkout", "-q", "-f", "-B", "main", made)
		w.Git("branch", "-q", "-D", "topic")
		for _, of := range []string{"one", "two", "three"} {
			for line, ids := range claimsOf(w, of+".go") {
				if !slices.Equal(ids, []name.ID{want[line]}) {
					t.Errorf("%s behind: %q is of %q, not %s", behind, line, ids, want[line])
				}
				delete(want, line)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s behind: nothing is known of %v", behind, want)
		}
	}
}

// A commit that renames a file, and one that moves the tree below a directory, have no unknown lines: they add none.
func TestRenames(t *testing.T) {
	w := world(t)
	text := "package a\n\nfunc first() {}\n\nfunc second() {}\n\nfunc third() {}\n"
	step(w, "agent", "a.go", text)
	commit(w, ann, "All")
	w.Git("mv", "a.go", "b.go")
	w.Write("b.go", text+"\nfunc fourth() {}\n")
	commit(w, ann, "Renamed")
	behind := func(rev string) (c Commit) {
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			oid, _ := ResolveCommit(ctx, s.Repo, rev)
			all, err := Commits(ctx, s.Rules, []name.OID{oid}, nil)
			c = all[0]
			return err
		})
		return c
	}
	if c := behind("HEAD"); c.Counts != (Counts{Lines: 1, None: 1}) || !slices.Equal(c.Unknown, []checkpoint.Path{"b.go"}) {
		t.Errorf("the commit has %+v, unknown %q", c.Counts, c.Unknown)
	}
	w.Git("rm", "-q", "b.go")
	commit(w, ann, "Removed")
	if c := behind("HEAD"); c.Counts.Lines != 0 || len(c.Unknown) != 0 {
		t.Errorf("the removal has %+v, unknown %q", c.Counts, c.Unknown)
	}

	w = world(t)
	id := step(w, "agent", "a.go", "x := 1\ny := 2\n")
	commit(w, ann, "All")
	w.Git("checkout", "-q", "--orphan", "below")
	w.Git("rm", "-rq", "-f", "--cached", ".")
	w.Write(filepath.Join("sub", "a.go"), "x := 1\ny := 2\n")
	w.Git("add", "sub")
	w.Git("commit", "-qm", "All")
	if got := claimsOf(w, "sub/a.go")["y := 2"]; !slices.Equal(got, []name.ID{id}) {
		t.Errorf("after the tree moved the line is of %q, not %s", got, id)
	}
}
