package why

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

const (
	agents   = "the line of the agent\n"
	ann, bob = "ann@example.com", "bob@example.com"
)

// step lets an agent write a file; "" removes it. It returns the id of the checkpoint.
func step(w *verbtest.World, session, file, text string) name.ID {
	w.Helper()
	trigger, who := "tool", record.Named
	if w.Write(file, text); text == "" {
		w.Remove(file)
		trigger, who = "prompt", record.OutsideAgents
	}
	return w.Create(create.Request{Session: session, Trigger: trigger, Message: "Edit " + file, Agent: &record.Agent{Name: "claude", Session: session, Paths: map[string]string{file: who}}}).Record.ID
}

// commit commits all as somebody, an hour later.
func commit(w *verbtest.World, who, message string) {
	w.Helper()
	w.Later(time.Hour)
	w.Must(func(_ context.Context, s *checkpoint.Service) error {
		at := s.Store.Now().Format(time.RFC3339)
		w.Env = append(w.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		return nil
	})
	was := w.Env
	w.Env = append(slices.Clone(w.Env), "GIT_AUTHOR_EMAIL="+who)
	w.Git("add", "-A")
	w.Git("commit", "-q", "--allow-empty", "-m", message)
	w.Env = was
}

// claimsOf returns all claims to the lines of a file, by text.
func claimsOf(w *verbtest.World, file string) map[string][]name.ID {
	w.Helper()
	out := map[string][]name.ID{}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(w.Dir, file)})
		for _, l := range lines {
			for _, c := range l.Claims {
				out[l.Text] = append(out[l.Text], c.Checkpoint)
			}
		}
		return err
	})
	return out
}

// world is a repository with one commit, in which nothing runs in the background.
func world(t *testing.T) *verbtest.World {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	return w
}

// fetched is a clone of a repository by somebody, in which do makes checkpoints that the repository then fetches.
func fetched(w *verbtest.World, who string, do func(*verbtest.World)) {
	w.Helper()
	c := &verbtest.World{TB: w.TB, Root: w.TempDir(), Env: append(slices.Clone(w.Env), "GIT_AUTHOR_EMAIL="+who, "GIT_COMMITTER_EMAIL="+who)}
	c.Dir = filepath.Join(c.Root, "clone")
	w.Git("clone", "-q", w.Dir, c.Dir)
	do(c)
	w.Git("fetch", "-q", c.Dir, "+refs/checkpoints/*:refs/checkpoints/*")
}

// A line of the agent that was thrown away, and that a person typed again, stays the person's, though the
// session has the line after the commit, and though the commit is rewritten then.
func TestTypedAgain(t *testing.T) {
	for what, rewrite := range map[string]func(*verbtest.World){
		"as it is": func(*verbtest.World) {},
		"amended":  func(w *verbtest.World) { w.Git("commit", "-q", "--amend", "-m", "Amended") },
		"squashed": func(w *verbtest.World) {
			w.Git("reset", "-q", "--soft", "HEAD~2")
			commit(w, ann, "Squashed")
		},
		"seen without what was before": func(w *verbtest.World) {
			w.Write(".git/info/grafts", w.Git("rev-parse", "HEAD")+"\n")
		},
		"replaced by a commit without parents": func(w *verbtest.World) { w.Git("replace", "--graft", "HEAD") },
		"in a shallow clone": func(w *verbtest.World) {
			from := w.Dir
			to := filepath.Join(w.TempDir(), "shallow")
			w.Git("clone", "-q", "--depth", "1", "file://"+from, to)
			w.Dir = to
			w.Git("fetch", "-q", from, "+refs/checkpoints/*:refs/checkpoints/*")
		},
	} {
		for who, author := range map[string]string{"herself": ann, "a colleague": bob} {
			t.Run(what+", by "+who, func(t *testing.T) {
				w := world(t)
				step(w, "agent", "LICENSE", agents)
				step(w, "agent", "LICENSE", "")
				w.Write("LICENSE", agents)
				commit(w, author, "License")
				step(w, "agent", "a.go", "more\n")
				commit(w, ann, "More")
				rewrite(w)
				if got := claimsOf(w, "LICENSE"); len(got) != 0 {
					t.Errorf("the line that was typed again is of %q", got)
				}
			})
		}
	}
}

// A colleague's commit of the same text is not the agent's, though the agent's file is still there.
func TestColleaguesText(t *testing.T) {
	w := world(t)
	id := step(w, "agent", "LICENSE", agents)
	commit(w, bob, "License")
	if got := claimsOf(w, "LICENSE"); len(got) != 0 {
		t.Errorf("the colleague's line is of %q", got)
	}
	w.Git("commit", "-q", "--amend", "-m", "License\n\nCo-authored-by: Ann <"+ann+">")
	if got := claimsOf(w, "LICENSE")["the line of the agent"]; !slices.Equal(got, []name.ID{id}) {
		t.Errorf("the common line is of %q, not %s", got, id)
	}
}

// Of two live sessions that added an equal line in two worktrees, none is named alone, also when one of them
// goes on from the commit.
func TestEqualLineOfTwoWorktrees(t *testing.T) {
	w := world(t)
	here, there := w.Dir, filepath.Join(w.TempDir(), "linked")
	w.Git("worktree", "add", "-q", "-b", "other", there)
	one := step(w, "one", "a.go", agents)
	w.Dir = there
	two := step(w, "two", "a.go", agents)
	commit(w, ann, "Of two")
	w.Dir = here
	w.Remove("a.go")
	w.Git("merge", "-q", "--ff-only", "other")
	want := []name.ID{one, two}
	if got := claimsOf(w, "a.go")["the line of the agent"]; !slices.Equal(got, want) {
		t.Errorf("the line is of %q, not %q", got, want)
	}
	step(w, "one", "b.go", "more\n")
	if got := claimsOf(w, "a.go")["the line of the agent"]; !slices.Equal(got, want) {
		t.Errorf("after one went on the line is of %q, not %q", got, want)
	}
}

// What was fetched from somebody else does not get lines of commits by others.
func TestFetchedSessionOfAnother(t *testing.T) {
	w := world(t)
	var id name.ID
	fetched(w, bob, func(c *verbtest.World) { id = step(c, "theirs", "a.go", agents) })
	w.Write("a.go", agents)
	commit(w, ann, "Mine")
	if got := claimsOf(w, "a.go"); len(got) != 0 {
		t.Errorf("the line is of %q", got)
	}
	w.Git("commit", "-q", "--amend", "-m", "Ours\n\nCo-authored-by: Bob <"+bob+">")
	if got := claimsOf(w, "a.go")["the line of the agent"]; !slices.Equal(got, []name.ID{id}) {
		t.Errorf("the common line is of %q, not %s", got, id)
	}
}

// A fetched session that takes the author and the ids of another one is never named alone, also where the
// commit names the id.
func TestForgedSession(t *testing.T) {
	w := world(t)
	id := step(w, "agent", "a.go", agents)
	fetched(w, ann, func(c *verbtest.World) {
		if got := step(c, "forged", "a.go", agents); got != id {
			t.Fatalf("the id is %s, not %s", got, id)
		}
	})
	for _, message := range []string{"Mine", "Mine\n\nCheckpoint-Id: " + string(id)} {
		commit(w, ann, message)
		var sessions []name.Session
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(w.Dir, "a.go")})
			for _, l := range lines {
				for _, c := range l.Claims {
					sessions = append(sessions, c.Session)
				}
			}
			return err
		})
		if !slices.Equal(sessions, []name.Session{"agent", "forged"}) {
			t.Errorf("the line is of %q", sessions)
		}
		w.Git("reset", "-q", "--soft", "HEAD^")
	}
}
