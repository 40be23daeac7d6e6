package retain_test

import (
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/retain"
)

// Delete removes the refs, notes and tags of what is named, once each, and nothing else. The journal
// keeps a tombstone, and says so also to a process that starts afterwards.
func TestDelete(t *testing.T) {
	w := newWorld(t)
	one, two, three := w.create(demo), w.create(demo), w.create(demo)
	named := []string{"2", string(two), "1"}
	plan, err := retain.PlanDelete(t.Context(), w.Open().Sessions, "", named)
	if err != nil || !slices.Equal(ids(plan.Removed), []name.ID{two, one}) || plan.Bytes == 0 {
		t.Fatalf("%+v %v", plan, err)
	}
	if got := w.live(demo); len(got) != 3 {
		t.Fatalf("the plan has removed some: %v", got)
	}
	done, err := verbtest.Delete(t.Context(), w.Open(), "", named)
	if err != nil || !slices.Equal(done.Removed, plan.Removed) || done.Bytes != plan.Bytes {
		t.Fatalf("%+v %v, planned was %+v", done, err, plan)
	}
	if got := w.live(demo); !slices.Equal(got, []name.ID{three}) {
		t.Errorf("left: %v", got)
	}
	if got := w.refs(name.TagRoot + "demo/"); !slices.Equal(got, []string{"step-3"}) {
		t.Errorf("tags: %v", got)
	}
	// Each line is the note and the commit that it is on.
	if notes := strings.Fields(w.Git("notes", "--ref=checkpoints", "list")); len(notes) != 2 || notes[1] != w.Git("rev-parse", string(name.CheckpointRef(demo, three))) {
		t.Errorf("notes: %s", notes)
	}
	st, err := checkpoint.State(t.Context(), w.Open().Store, demo)
	if err != nil || !st.Entry(one).Dead || !st.Entry(two).Dead || st.Entry(three).Dead {
		t.Errorf("the journal: %v", err)
	}
}

// Nothing is removed when one of the named checkpoints is pinned, unknown, or of another session.
func TestDeleteRefuses(t *testing.T) {
	w := newWorld(t)
	one, two, other := w.create(demo), w.create(demo), w.create("other")
	if marked, err := retain.Mark(t.Context(), w.Open().Sessions, journal.KindPin, string(demo), []string{"2"}); err != nil || !marked[0].Changed {
		t.Fatal(err)
	}
	for _, c := range []struct {
		refs []string
		kind checkpoint.Kind
	}{
		{nil, checkpoint.KindUsage},
		{[]string{string(one), ""}, checkpoint.KindUsage},
		{[]string{string(one), string(two)}, checkpoint.KindRefused},
		{[]string{string(one), "9"}, checkpoint.KindNotFound},
		{[]string{string(one), "other:1"}, checkpoint.KindUsage},
	} {
		if _, err := verbtest.Delete(t.Context(), w.Open(), string(demo), c.refs); checkpoint.KindOf(err) != c.kind {
			t.Errorf("%q: %v", c.refs, err)
		}
	}
	if got := append(w.live(demo), w.live("other")...); !slices.Equal(got, []name.ID{one, two, other}) {
		t.Errorf("left: %v", got)
	}
}

// The deletion of a session removes pinned checkpoints too, and no other session. Its answer has
// only what it has removed itself.
func TestDeleteSessionMeanwhile(t *testing.T) {
	w := newWorld(t)
	one, two, three, other := w.create(demo), w.create(demo), w.create(demo), w.create("other")
	if _, err := retain.Mark(t.Context(), w.Open().Sessions, journal.KindPin, string(demo), []string{"3"}); err != nil {
		t.Fatal(err)
	}
	s := w.Open()
	s.Between = func(step string) {
		if step != "doomed" {
			return
		}
		s.Between = nil
		if _, err := verbtest.Delete(t.Context(), w.Open(), string(demo), []string{string(two)}); err != nil {
			t.Error(err)
		}
	}
	plan, err := retain.WholeSession(t.Context(), s.Sessions, string(demo))
	if err != nil {
		t.Fatal(err)
	}
	done, err := plan.Apply(t.Context(), s)
	if err != nil || !slices.Equal(ids(done.Removed), []name.ID{one, three}) {
		t.Errorf("%+v %v", done, err)
	}
	if got := append(w.live(demo), w.live("other")...); !slices.Equal(got, []name.ID{other}) {
		t.Errorf("left: %v", got)
	}
	if got := w.refs(name.CheckpointRoot + "demo/"); !slices.Equal(got, []string{"journal"}) {
		t.Errorf("refs: %v", got)
	}
}

// A pin of what is pinned changes nothing and says so, and without a name it is about the current
// checkpoint.
func TestPin(t *testing.T) {
	w := newWorld(t)
	w.create(demo)
	two := w.create(demo)
	for i, pin := range []bool{true, true, false, false} {
		kind := journal.KindUnpin
		if pin {
			kind = journal.KindPin
		}
		before := w.Git("rev-parse", string(name.JournalRef(demo)))
		marked, err := retain.Mark(t.Context(), w.Open().Sessions, kind, "", nil)
		if err != nil || len(marked) != 1 || marked[0].ID != two || marked[0].Pinned != pin || marked[0].Changed != (i%2 == 0) {
			t.Errorf("%d: %+v %v", i, marked, err)
		}
		if after := w.Git("rev-parse", string(name.JournalRef(demo))); (after != before) != (i%2 == 0) {
			t.Errorf("%d: the journal went from %s to %s", i, before, after)
		}
	}
}
