package refs

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
)

// What git would do in addition, or in another way, is left to git.
func TestWriteRefsAsks(t *testing.T) {
	plain := newFixture(t)
	plain.writesHere()
	one := plain.Blob("one")
	for _, u := range [][]Update{
		{}, {{Ref: "refs/heads/x", New: one}}, {{Ref: "refs/checkpoints/s/a"}}, {{Ref: "refs/checkpoints/s/a b", New: one}},
		{{Ref: "refs/checkpoints/s/a.lock", New: one}}, {{Ref: "refs/checkpoints/../x", New: one}}, {{Ref: "refs/checkpoints/s/a", New: "12"}},
		{{Ref: "refs/checkpoints/s/a", New: one}, {Ref: "refs/checkpoints/s/a", New: one}},
		{{Ref: "refs/checkpoints/s/a", New: one}, {Ref: "refs/checkpoints/s/a/b", New: one}},
		{{Ref: "refs/checkpoints/s/a", New: one}, {Ref: "refs/checkpoints/s/a-b", New: one}, {Ref: "refs/checkpoints/s/a/b", New: one}},
		{{Ref: name.Ref("refs/checkpoints/s/" + strings.Repeat("a", 240)), New: one}},
	} {
		if plain.files().plainUpdates(u) {
			t.Errorf("%v are plain", u)
		}
	}
	for setting, here := range map[string]bool{
		"core.fsync=reference": false, "core.fsync=none,all": false, "core.fsync=committed": false, "core.fsync=newer": false,
		"core.fsync=none": true, "core.fsync=": true, "core.fsync=objects, -reference": true, "core.fsyncMethod=batch": true,
		"core.sharedRepository=group": false, "core.sharedRepository=umask": false, "core.filesRefLockTimeout=5": false, "core.packedRefsTimeout=5": false,
	} {
		f := newFixture(t)
		key, value, _ := strings.Cut(setting, "=")
		f.Git("config", key, value)
		if f.files().Writable("refs/heads/main") != here {
			t.Errorf("with %s: %v", setting, !here)
		}
	}
	f := newFixture(t)
	one = f.Blob("one")
	two := f.Blob("two")
	f.Git("update-ref", "--create-reflog", "refs/checkpoints/s/journal", string(one))
	f.Git("symbolic-ref", "refs/notes/checkpoints", "refs/checkpoints/s/journal")
	r := f.files()
	for _, ref := range []name.Ref{"refs/checkpoints/s/journal", "refs/notes/checkpoints"} {
		if err := r.Write([]Update{{Ref: ref, New: two, Old: one}}, commits); !errors.Is(err, errUseGit) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Refs are written in the order of the updates: one that cannot be written stops those after it.
// After a deletion those before it stay, because the value of the deleted one is gone.
func TestWriteRefsOrder(t *testing.T) {
	f := newFixture(t)
	f.writesHere()
	oid := f.Blob("x")
	refs := []name.Ref{"refs/checkpoints/s/c", "refs/checkpoints/s/d", "refs/checkpoints/s/a", "refs/checkpoints/s/b"}
	l := &transaction{Files: f.files(), id: rand.Text()[:10]}
	for i, ref := range refs {
		u := Update{Ref: ref, New: oid}
		if i == 1 {
			u = Update{Ref: ref, Old: oid}
		}
		if err := l.add(&refLock{update: u}); err != nil {
			t.Fatal(err)
		}
	}
	f.Write(".git/refs/checkpoints/s/a/in-the-way", "")
	err := l.commit()
	l.release()
	if got := f.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints"); err == nil || errors.Is(err, errUseGit) || got != string(refs[0]) {
		t.Errorf("%v, and there are %q", err, got)
	}
	f.nothingLeft()
}
