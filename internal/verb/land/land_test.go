package land

import (
	"context"
	"errors"
	"slices"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/rollback"
)

// world adds what this package does to a repository.
type world struct{ *verbtest.World }

func newWorld(t *testing.T) world { return world{verbtest.New(t)} }

// land plans and makes commits, and returns the answer.
func (w world) land(req Request) (done *Answer, err error) {
	w.Helper()
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		done, err = p.Apply(ctx)
		return err
	})
	return done, err
}

func labels(commits []Commit) (list []string) {
	for _, c := range commits {
		list = append(list, c.Label)
	}
	return list
}

// Each makes a commit for each step that changes something, with the files of that step, and names
// the others.
func TestEach(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	w.Save("second")
	w.Save("the same")
	w.Write("new", "new\n")
	w.Save("third")
	w.Write("file", "not saved\n")
	done, err := w.land(Request{Each: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := labels(done.Commits); !slices.Equal(got, []string{"cp-01", "cp-03"}) || len(done.Left) != 1 || done.Left[0].Label != "cp-02" {
		t.Errorf("landed %v, left %v", got, done.Left)
	}
	if len(done.Untracked) != 1 || done.Untracked[0] != "new" {
		t.Errorf("not tracked before: %v", done.Untracked)
	}
	if got := w.Git("log", "--reverse", "--format=%s", "main"); got != "Begin\nsecond\nthird" {
		t.Errorf("on main: %s", got)
	}
	if got := w.Git("show", "main~1:file") + " " + w.Git("ls-tree", "--name-only", "main~1"); got != "two file" {
		t.Errorf("in the commit of the first step: %s", got)
	}
	if got := w.Git("status", "--porcelain"); got != "M file" {
		t.Errorf("what was not saved: %s", got)
	}
}

// A range has both of its ends, and together they are one commit on a new branch, which leaves the
// current one alone.
func TestTogetherOnABranch(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"two", "three", "four"} {
		w.Write("file", text+"\n")
		w.Save(text)
	}
	before := w.Git("rev-parse", "main")
	done, err := w.land(Request{Range: "1..2", Branch: "queue", Message: "Both"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Git("log", "--format=%s", "main..queue"); got != "Both" || done.Safety != "" {
		t.Errorf("on queue: %s, safety checkpoint %q", got, done.Safety)
	}
	if got := w.Git("show", "queue:file"); got != "three" {
		t.Errorf("file has %q", got)
	}
	if w.Git("rev-parse", "main") != before || w.Git("status", "--porcelain") != "M file" {
		t.Error("main or the index has changed")
	}
	if _, err := w.land(Request{Range: "3..2", Branch: "backward"}); checkpoint.KindOf(err) != checkpoint.KindUsage {
		t.Errorf("a range from its end: %v", err)
	}
}

// What cannot be landed is refused by its kind, and nothing is changed.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	first := w.Save("first")
	w.Write("file", "three\n")
	w.Save("second")
	var safety name.ID
	if err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := rollback.Prepare(ctx, s, rollback.Request{Ref: string(first)})
		if err != nil {
			return err
		}
		done, err := plan.Apply(ctx)
		if err == nil {
			safety = done.Safety
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.Git("branch", "taken")
	before := w.Git("for-each-ref")
	for _, c := range []struct {
		req  Request
		kind checkpoint.Kind
	}{
		{Request{Range: string(safety)}, checkpoint.KindRefused},
		{Request{Range: "7"}, checkpoint.KindNotFound},
		{Request{Branch: "taken"}, checkpoint.KindUsage},
		{Request{Branch: "a..b"}, checkpoint.KindUsage},
	} {
		_, err := w.land(c.req)
		var known *checkpoint.Error
		if !errors.As(err, &known) || known.Kind != c.kind {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
	if w.Git("for-each-ref") != before {
		t.Error("a ref has changed")
	}
	if _, err := w.land(Request{}); err != nil {
		t.Fatal(err)
	}
	w.Save("as landed")
	if _, err := w.land(Request{}); checkpoint.KindOf(err) != checkpoint.KindNothing {
		t.Errorf("landing twice: %v", err)
	}
}
