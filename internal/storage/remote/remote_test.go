package remote

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"git-checkpoint/internal/format/name"
)

const (
	one   = name.ID("cp-01-20261120T094311123Z-4f2a")
	two   = name.ID("cp-02-20261120T094311123Z-4f2a")
	three = name.ID("cp-03-20261120T094311123Z-4f2a")
)

// Each ref of ours has a name at the remote that maps back to it, and no other ref maps to
// one of ours.
func TestMapping(t *testing.T) {
	ours := []name.Ref{"refs/checkpoints/main/journal", name.CheckpointRef("main", one), name.NotesRef, name.TagRoot + "main/step-1"}
	for _, prefix := range []string{"", "refs/heads/checkpoints", "refs/heads/checkpoints/", "refs/checkpoints/"} {
		m, err := ParseMapping(prefix)
		if err != nil {
			t.Fatal(err)
		}
		there := map[name.Ref]bool{}
		for _, ref := range ours {
			got, ok := m.ToLocal(m.ToRemote(ref))
			if !ok || got != ref || there[m.ToRemote(ref)] {
				t.Errorf("%q: %s is %s there, and that is %s", prefix, ref, m.ToRemote(ref), got)
			}
			there[m.ToRemote(ref)] = true
		}
		if got, ok := m.ToLocal("refs/heads/main"); ok {
			t.Errorf("%q: a branch is %s", prefix, got)
		}
	}
	for _, bad := range []string{"refs/heads", "refs/tags/", "heads/x", "refs//x", "refs/x/../heads", "refs/heads/a b", "refs/heads/.x", "refs/heads/x.lock", "refs/x/@{", "x"} {
		if m, err := ParseMapping(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, m)
		}
	}
}

// A push creates what is missing, deletes dead refs together with the journal that has
// their tombstones, and overwrites nothing.
func TestPlanPush(t *testing.T) {
	here := &Session{Checkpoints: map[name.ID]name.OID{one: "a", two: "b", three: "c"}}
	nobodyIsDead := func(name.ID) bool { return false }
	ref := func(id name.ID) name.Ref { return name.CheckpointRef("main", id) }
	for what, c := range map[string]struct {
		there *Session
		tip   name.OID
		dead  name.ID
		want  Plan
	}{
		"an empty remote":                       {&Session{}, "j", "", Plan{Journal: "j", Create: []Update{{Ref: ref(one), New: "a"}, {Ref: ref(two), New: "b"}, {Ref: ref(three), New: "c"}}}},
		"all is there":                          {&Session{Journal: "j", Checkpoints: here.Checkpoints}, "j", "", Plan{}},
		"another value":                         {&Session{Journal: "j", Checkpoints: map[name.ID]name.OID{one: "x", two: "b", three: "c"}}, "j", "", Plan{Conflicts: []Conflict{{ref(one), "a", "x"}}}},
		"a dead one":                            {&Session{Journal: "i", Checkpoints: here.Checkpoints}, "j", two, Plan{Journal: "j", Delete: []Update{{Ref: ref(two)}}}},
		"a dead one of a journal that is there": {&Session{Journal: "j", Checkpoints: here.Checkpoints}, "j", two, Plan{Owed: []Update{{Ref: ref(two)}}}},
		"a dead one that is not there":          {&Session{Journal: "i", Checkpoints: map[name.ID]name.OID{one: "a", three: "c"}}, "j", two, Plan{Journal: "j"}},
		"an archive that holds it":              {&Session{Journal: "j", Archived: map[name.ID]name.OID{one: "a", two: "b", three: "c"}}, "j", "", Plan{}},
	} {
		dead := nobodyIsDead
		if c.dead != "" {
			dead = func(id name.ID) bool { return id == c.dead }
		}
		c.want.Session = "main"
		got := PlanPush("main", here, c.there, c.tip, dead)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

// An archive replaces the refs that it holds, and only those of the same value.
func TestPlanArchive(t *testing.T) {
	here := &Session{Archived: map[name.ID]name.OID{one: "a", two: "b"}}
	there := &Session{Journal: "j", Checkpoints: map[name.ID]name.OID{one: "a", two: "x"}}
	got := PlanPush("main", here, there, "j", func(name.ID) bool { return false })
	want := Plan{
		Session: "main", Archive: map[name.ID]name.OID{one: "a"}, Fold: []Update{{Ref: name.CheckpointRef("main", one)}},
		Conflicts: []Conflict{{name.CheckpointRef("main", two), "b", "x"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Passwords in URLs are removed.
func TestRedact(t *testing.T) {
	const given = "push to https://ann:secret@example.com/x.git and ssh://git@host/y, not a@b.c"
	if got := Redact(given); got != "push to https://example.com/x.git and ssh://host/y, not a@b.c" {
		t.Error(got)
	}
}
