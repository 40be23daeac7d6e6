package expunge

import (
	"context"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// secret is one that a rule of the guard finds.
const secret = "AKIAQYLPMN5HHHFPZAM2"

// planted is a repository with four checkpoints, of which the second and third have config.env with
// a secret.
func planted(t *testing.T) (*verbtest.World, []name.ID) {
	t.Helper()
	w := verbtest.New(t)
	var ids []name.ID
	for i, text := range []string{"", "a\nkey=" + secret + "\n", "b\nkey=" + secret + "\n", ""} {
		w.Write("file", strings.Repeat("x", i+1)+"\n")
		w.Remove("config.env")
		if text != "" {
			w.Write("config.env", text)
		}
		ids = append(ids, w.Create(create.Request{Session: "demo"}).Record.ID)
	}
	return w, ids
}

func expunge(w *verbtest.World, req Request) (a *Answer, err error) {
	w.Helper()
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		a, err = p.Apply(ctx)
		return err
	})
	return a, err
}

// live returns the live checkpoints of the session, in order.
func live(w *verbtest.World) (all []*journal.Entry) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		st, err := checkpoint.State(ctx, s.Store, "demo")
		if err == nil {
			for _, e := range st.Checkpoints() {
				if !e.Dead {
					all = append(all, e)
				}
			}
		}
		return err
	})
	return all
}

// reaches reports whether any ref leads to an object.
func reaches(w *verbtest.World, oid string) bool {
	w.Helper()
	return strings.Contains(w.Git("rev-list", "--objects", "--all"), oid)
}

// A checkpoint that holds a file gets a replacement of the same step without it, and with all else.
// Those after it are replaced too, those before it are not. No ref leads to the file any more, and the
// worktree is as it was.
func TestExpungeFile(t *testing.T) {
	t.Parallel()
	w, ids := planted(t)
	w.Write("config.env", "still here\n")
	before := live(w)
	blobs := []string{w.Git("rev-parse", string(name.CheckpointRef("demo", ids[1]))+":config.env"), w.Git("rev-parse", string(name.CheckpointRef("demo", ids[2]))+":config.env")}
	refs := w.Git("for-each-ref")
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := Prepare(ctx, s, Request{Target: "config.env"})
		return err
	})
	if w.Git("for-each-ref") != refs {
		t.Error("a plan has changed refs")
	}
	a, err := expunge(w, Request{Target: "config.env"})
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for i, c := range a.Checkpoints {
		held = append(held, strings.Join(c.Holds, " "))
		if c.ID != ids[i+1] || c.Rebuilt == "" || c.Rebuilt == c.ID {
			t.Errorf("%+v", c)
		}
	}
	if len(held) != 3 || held[0] == "" || held[1] == "" || held[2] != "" {
		t.Errorf("held by %q", held)
	}
	after := live(w)
	if len(after) != len(before) || after[0].Checkpoint != ids[0] {
		t.Fatalf("%d checkpoints, the first is %s", len(after), after[0].Checkpoint)
	}
	for i, e := range after {
		if e.Step != before[i].Step || e.Label != before[i].Label {
			t.Errorf("%s is now %s of step %d", before[i].Label, e.Label, e.Step)
		}
		commit := string(e.Event().Commit)
		if files := w.Git("ls-tree", "--name-only", commit); files != "file" {
			t.Errorf("%s has %q", e.Label, files)
		}
		if got := w.Git("show", commit+":file"); got != strings.Repeat("x", i+1) {
			t.Errorf("the file of %s has %q", e.Label, got)
		}
	}
	for _, blob := range blobs {
		if reaches(w, blob) {
			t.Errorf("a ref leads to %s", blob)
		}
	}
	w.Has("config.env", "still here\n")
}

// What a rule finds is replaced where it stands; the rest of the file stays. What was expunged is on
// the list, nothing is left for a second time, and Again has nothing to do.
func TestExpungeRule(t *testing.T) {
	t.Parallel()
	w, ids := planted(t)
	w.Git("update-ref", string(name.CheckpointRef("half", ids[0])), "HEAD") // a session without a journal is left alone
	text := "REMOVED"
	a, err := expunge(w, Request{Rule: "aws-access-key", Replace: &text})
	if err != nil || len(a.Objects) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, want := range map[int]string{1: "a\nkey=REMOVED", 2: "b\nkey=REMOVED"} {
		if got := w.Git("show", string(live(w)[i].Event().Commit)+":config.env"); got != want {
			t.Errorf("config.env of step %d has %q", i+1, got)
		}
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		list, err := clearance.ReadExpunged(s.Repo)
		for _, oid := range a.Objects {
			if err == nil && !list.Objects[oid] {
				t.Errorf("%s is not listed", oid)
			}
		}
		if done, err := Repeat(ctx, s); err != nil || len(done) > 0 {
			t.Errorf("again: %+v, %v", done, err)
		}
		return err
	})
	if _, err := expunge(w, Request{Rule: "aws-access-key"}); checkpoint.KindOf(err) != checkpoint.KindNotFound {
		t.Errorf("a second time: %v", err)
	}
}

// A checkpoint that was made without knowing of an expunge, as another clone does, loses the content
// too, and so do other files with the same secret.
func TestAgain(t *testing.T) {
	t.Parallel()
	w, ids := planted(t)
	blob := name.OID(w.Git("rev-parse", string(name.CheckpointRef("demo", ids[1]))+":config.env"))
	w.Must(func(_ context.Context, s *checkpoint.Service) error {
		list, err := clearance.ReadExpunged(s.Repo)
		if err != nil {
			return err
		}
		return list.Add("elsewhere", nil, []name.OID{blob})
	})
	var done []Rewritten
	w.Must(func(ctx context.Context, s *checkpoint.Service) (err error) {
		done, err = Repeat(ctx, s)
		return err
	})
	if len(done) != 3 || done[0].ID != ids[1] || reaches(w, string(blob)) {
		t.Errorf("%+v", done)
	}
	if got := w.Git("show", string(live(w)[2].Event().Commit)+":config.env"); !strings.HasPrefix(got, "b\nkey=") || strings.Contains(got, secret) { // another file, with the same secret
		t.Errorf("config.env of step 3 has %q", got)
	}
}

// A request that names nothing, two things, or what nobody has is refused, and so is one while a
// rollback is half done. Nothing is changed.
func TestExpungeRefuses(t *testing.T) {
	t.Parallel()
	w, _ := planted(t)
	before := w.Git("for-each-ref")
	for _, c := range []struct {
		req  Request
		kind checkpoint.Kind
	}{
		{Request{}, checkpoint.KindUsage}, {Request{Target: "config.env", Rule: "aws-access-key"}, checkpoint.KindUsage}, {Request{Rule: "no-such-rule"}, checkpoint.KindUsage},
		{Request{Target: "no-such-file"}, checkpoint.KindNotFound}, {Request{Target: "config.env", Session: "no-such"}, checkpoint.KindNotFound},
	} {
		if _, err := expunge(w, c.req); checkpoint.KindOf(err) != c.kind {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
	w.Write(".git/checkpoint/rollback", "half of")
	if _, err := expunge(w, Request{Target: "config.env"}); err == nil {
		t.Error("it is done in the middle of a rollback")
	}
	if after := w.Git("for-each-ref"); after != before {
		t.Errorf("refs were\n%s\nand are\n%s", before, after)
	}
	if !slices.ContainsFunc(live(w), func(e *journal.Entry) bool { return e.Label == "cp-02" }) {
		t.Error("step 2 is gone")
	}
}
