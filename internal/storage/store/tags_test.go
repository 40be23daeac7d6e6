package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

func TestTagsFollow(t *testing.T) {
	f := newFixture(t)
	one := f.create("demo", milestone{step: 6, iteration: "1"})
	want := func(format string, args ...any) {
		t.Helper()
		if got := f.tags("demo"); got != fmt.Sprintf(format, args...) {
			t.Errorf("tags are %q, not %q", got, fmt.Sprintf(format, args...))
		}
	}
	want("step-6=%s step-6.1=%s", one, one)
	two := f.create("demo", milestone{step: 6, iteration: "2"})
	want("step-6=%s step-6.1=%s step-6.2=%s", two, one, two)
	f.Private = func(context.Context, name.OID) (string, error) { panic("asked of what can have no tag") }
	f.create("demo", milestone{step: 6, minor: true})
	f.create("demo", milestone{step: 6, safety: true, minor: true})
	f.Private = nil
	want("step-6=%s step-6.1=%s step-6.2=%s", two, one, two)
	if got := f.Git("cat-file", "-t", "checkpoint/demo/step-6"); got != "commit" {
		t.Errorf("a tag is a %s", got)
	}

	// A rollback takes the tags of what it discards away, and undo brings them back.
	st, err := f.State(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	_, discard, restore, err := st.RollbackPlan(one)
	if err != nil {
		t.Fatal(err)
	}
	res := f.mustChange("demo", Change{Events: []journal.Event{{
		Kind: journal.KindRollback, From: st.Current, To: one, Discard: discard, Restore: restore, WorktreeID: "w",
	}}})
	want("step-6=%s step-6.1=%s", one, one)
	if len(res.Tags) != 2 || res.Tags[0].Old == "" {
		t.Errorf("%+v", res.Tags)
	}
	plan, err := res.State.PlanUndoOf(res.State.Rollbacks[0])
	if err != nil {
		t.Fatal(err)
	}
	f.mustChange("demo", Change{Events: []journal.Event{{
		Kind: journal.KindUndo, From: one, To: plan.Target, Undoes: plan.Undoes.OID, Discard: plan.Discard, Restore: plan.Restore,
	}}})
	want("step-6=%s step-6.1=%s step-6.2=%s", two, one, two)

	// Without the policy none is made, and none stays on an older checkpoint; what is removed loses
	// its own all the same.
	f.Private = func(context.Context, name.OID) (string, error) { return "not meant", nil }
	three := f.create("demo", milestone{step: 7})
	four := f.create("demo", milestone{step: 6})
	want("step-6.1=%s step-6.2=%s", one, two)
	c := f.commit("demo", two)
	f.mustChange("demo", Change{
		Events: []journal.Event{{Kind: journal.KindPrune, Tombstones: []journal.Tombstone{{ID: two, Commit: c}}}},
		Remove: []Removal{{ID: two, Commit: c}},
	})
	want("step-6.1=%s", one)
	f.Private = nil

	f.Git("update-ref", "refs/tags/checkpoint/demo/step-9", string(f.commit("demo", one)))
	f.Git("update-ref", "-d", "refs/tags/checkpoint/demo/step-6.1")
	f.mustChange("demo", Change{Retag: true})
	want("step-6=%s step-6.1=%s step-7=%s", four, one, three)
}

// A private milestone has no tag, and no older one of its step has it. One that was there before stays
// until something of the step changes.
func TestPrivateHasNoTag(t *testing.T) {
	f := newFixture(t)
	private := map[name.OID]string{}
	f.Private = func(_ context.Context, commit name.OID) (string, error) { return private[commit], nil }
	one := f.create("demo", milestone{step: 6, iteration: "1"})
	f.Private = func(context.Context, name.OID) (string, error) { return "a secret", nil }
	two := f.create("demo", milestone{step: 6, iteration: "2"})
	want := func(format string, args ...any) {
		t.Helper()
		if got := f.tags("demo"); got != fmt.Sprintf(format, args...) {
			t.Errorf("tags are %q, not %q", got, fmt.Sprintf(format, args...))
		}
	}
	want("step-6.1=%s", one)
	private[f.commit("demo", two)] = "a secret"
	f.Private = func(_ context.Context, commit name.OID) (string, error) { return private[commit], nil }
	f.mustChange("demo", Change{Retag: true})
	want("step-6.1=%s", one)
	f.Git("update-ref", "refs/tags/checkpoint/demo/step-6", string(f.commit("demo", two)))
	f.mustChange("demo", Change{Retag: true})
	want("step-6=%s step-6.1=%s", two, one)
	c := f.commit("demo", two)
	f.mustChange("demo", Change{
		Events: []journal.Event{{Kind: journal.KindPrune, Tombstones: []journal.Tombstone{{ID: two, Commit: c}}}},
		Remove: []Removal{{ID: two, Commit: c}},
	})
	want("step-6=%s step-6.1=%s", one, one)
}

func FuzzTagLeaf(f *testing.F) {
	for _, seed := range []string{"step-1", "step-06", "step-6.review", "step-6.", "step--1", "6", "step-1.2.3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, leaf string) {
		k, ok := parseTagLeaf(leaf)
		if want := name.TagRoot + "s/" + leaf; ok && string(name.TagRef("s", k.step, k.iteration)) != want {
			t.Errorf("%q became %+v", leaf, k)
		}
	})
}

// A ref that somebody else has made stays as it is, and the checkpoint is created.
func TestForeignTags(t *testing.T) {
	for _, ref := range []string{"refs/tags/checkpoint", "refs/tags/checkpoint/demo", "refs/tags/checkpoint/demo/step-1", "refs/tags/checkpoint/demo/step-1/x"} {
		t.Run(ref, func(t *testing.T) {
			f := newFixture(t)
			f.Git("update-ref", ref, "HEAD")
			id, res, err := create(t.Context(), f.Store, "demo", milestone{})
			if err != nil {
				t.Fatal(err)
			}
			f.commit("demo", id)
			if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "tags/checkpoint/demo/step-1 was left out") || len(res.Tags) != 0 {
				t.Errorf("%q %v", res.Warnings, res.Tags)
			}
			if got := f.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/tags"); got != ref+" "+string(f.Repo.Head.OID) {
				t.Errorf("%q", got)
			}
			next, res, err := create(t.Context(), f.Store, "demo", milestone{step: 2})
			if blocked := strings.Count(ref, "/") < 4; err != nil || blocked != (len(res.Warnings) == 1) {
				t.Errorf("%s: %q %v", next, res.Warnings, err)
			}
		})
	}
}

// The iteration of an event from another clone can be any text. It must not become a name that git
// refuses, or a ref outside the session.
func TestHostileIteration(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	before := f.Git("for-each-ref", "refs/heads")
	id := f.create("demo", milestone{step: 2, minor: true})
	c := f.commit("demo", id)
	blob, err := f.RecordBlob(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i, iteration := range []string{"../../../heads/evil", "a..b", "x.lock", "x y", "~1", "a/b"} {
		id := name.ID(fmt.Sprintf("cp-02-20261120T094311123Z-000%d", i))
		f.mustChange("demo", Change{
			Events: []journal.Event{{Kind: journal.KindAdopt, Checkpoint: id, Step: 2, Iteration: iteration, Milestone: true, Commit: c}},
			Create: []NewCheckpoint{{ID: id, Commit: c, RecordBlob: blob}},
		})
	}
	if f.Git("for-each-ref", "refs/heads") != before {
		t.Error("a branch was made")
	}
	if got := strings.Fields(f.tags("demo")); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// The newest milestone may exist only elsewhere: its ref or its commit is missing here. Then the
// tag names the newest one that is here.
func TestTagOfWhatIsHere(t *testing.T) {
	f := newFixture(t)
	one := f.create("demo", milestone{step: 1})
	missing := name.OID(strings.Repeat("12", 20))
	id := func(n int) name.ID { return name.ID(fmt.Sprintf("cp-01-20261120T094311123Z-000%d", n)) }
	f.mustChange("demo", Change{Events: []journal.Event{{
		Kind: journal.KindAdopt, Checkpoint: id(1), Step: 1, Milestone: true, Commit: missing,
	}}})
	if got := f.tags("demo"); got != "step-1="+string(one) {
		t.Errorf("%q", got)
	}
	f.Write(f.path("refs/checkpoints/demo", string(id(2))), string(missing)+"\n")
	f.mustChange("demo", Change{Events: []journal.Event{{
		Kind: journal.KindAdopt, Checkpoint: id(2), Step: 1, Milestone: true, Commit: missing,
	}}})
	if got := f.tags("demo"); got != "step-1="+string(one) {
		t.Errorf("%q", got)
	}
}
