package store

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// An archive holds what it lists, can be built on another one, and shrinks when checkpoints are
// removed. Two archives with the same content are the same commit.
func TestArchive(t *testing.T) {
	f := newFixture(t)
	one, two := f.create("demo", milestone{step: 1}), f.create("demo", milestone{step: 2})
	held, archived, err := f.HeldOf(t.Context(), "demo")
	if err != nil || len(held) != 2 || archived[one] {
		t.Fatalf("%v %v %v", held, archived, err)
	}
	first, err := f.ArchiveOnto(t.Context(), "demo", "", map[name.ID]name.OID{one: held[one]})
	if err != nil {
		t.Fatal(err)
	}
	onto, err := f.ArchiveOnto(t.Context(), "demo", first, held)
	if err != nil {
		t.Fatal(err)
	}
	if members, err := f.CheckArchive(t.Context(), "demo", onto); err != nil || !maps.Equal(members, held) {
		t.Errorf("%v %v", members, err)
	}
	if got := f.Git("rev-parse", string(onto)+"^@"); got != string(first)+"\n"+string(held[two]) {
		t.Errorf("parents are %s", got)
	}
	f.mustChange("demo", Change{Archive: held})
	whole, err := f.ArchiveOnto(t.Context(), "demo", "", held)
	if got := f.Git("rev-parse", "refs/checkpoints/demo/archive"); err != nil || got != string(whole) {
		t.Errorf("%v: %s, not %s", err, got, whole)
	}
	if refs := f.Git("for-each-ref", "refs/checkpoints/demo/cp-*"); refs != "" {
		t.Errorf("refs are left:\n%s", refs)
	}
	f.mustChange("demo", Change{Remove: []Removal{{ID: two}}})
	if got := f.Git("rev-parse", "refs/checkpoints/demo/archive"); got != string(first) {
		t.Errorf("after a removal it is %s, not %s", got, first)
	}
	f.mustChange("demo", Change{Remove: []Removal{{ID: one}}})
	if refs := f.Git("for-each-ref", "refs/checkpoints/demo/archive"); refs != "" {
		t.Errorf("an empty archive is left: %s", refs)
	}
	f.Git("fsck", "--strict", "--no-dangling")
}

// The lines are in the order of the times in the ids, those of one millisecond in that of the random
// digits, and only then in that of the steps.
func TestArchiveOrder(t *testing.T) {
	f := newFixture(t)
	oid := f.commit("demo", f.create("demo", milestone{step: 1}))
	want := []string{
		"cp-03-20261120T090000000Z-0002", "cp-02-20261120T090000001Z-0001", "cp-01-20261120T090000001Z-0002", "cp-04-20261120T090000001Z-0002",
		"cp-01-20261120T090000002Z-0000",
	}
	members := map[name.ID]name.OID{}
	for _, id := range want {
		members[name.ID(id)] = oid
	}
	archive, err := f.ArchiveOnto(t.Context(), "demo", "", members)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(want, " "+string(oid)+"\n") + " " + string(oid)
	if got := f.Git("cat-file", "blob", string(archive)+":"+archiveList); got != lines {
		t.Errorf("the list is\n%s", got)
	}
}

// An archive may go on from maxChain others, and no more. Each push to an archived session adds one.
func TestArchiveChain(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{step: 1})
	members := map[name.ID]name.OID{id: f.commit("demo", id)}
	archive := name.OID("")
	for others := range maxChain + 2 {
		// Each is a new commit, because it has another parent.
		next, err := f.ArchiveOnto(t.Context(), "demo", archive, members)
		if err != nil {
			t.Fatal(err)
		}
		archive = next
		if others < maxChain-1 {
			continue
		}
		if _, err := f.CheckArchive(t.Context(), "demo", archive); (err != nil) != (others > maxChain) {
			t.Errorf("it goes on from %d others: %v", others, err)
		}
	}
}

// An archive from another clone is refused if it holds more than it lists, lists what it does not
// hold, or belongs to another session.
func TestHostileArchive(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{step: 1})
	held, _, err := f.HeldOf(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	foreign := name.OID(f.Git("commit-tree", "-m", "foreign", f.Git("mktree")))
	by := git.Signature{Name: "x", Email: "x@example.com"}
	write := func(message, list string, parents ...name.OID) name.OID {
		t.Helper()
		blob, err := f.Repo.Objects.Write(t.Context(), "blob", []byte(list))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := f.Repo.Trees.Edit(t.Context(), "", map[string]git.Entry{archiveList: {Mode: git.ModeFile, OID: blob}})
		if err != nil {
			t.Fatal(err)
		}
		oid, err := f.Repo.Commits.Write(t.Context(), git.Commit{Tree: tree, Parents: parents, Author: by, Committer: by, Message: message})
		if err != nil {
			t.Fatal(err)
		}
		return oid
	}
	line := fmt.Sprintf("%s %s\n", id, held[id])
	for what, oid := range map[string]name.OID{
		"holds more":      write(archiveMessage("demo"), line, held[id], foreign),
		"lists more":      write(archiveMessage("demo"), line, foreign),
		"holds nothing":   write(archiveMessage("demo"), line),
		"another session": write(archiveMessage("other"), line, held[id]),
		"twice":           write(archiveMessage("demo"), line+line, held[id]),
		"no id":           write(archiveMessage("demo"), "journal "+string(held[id])+"\n", held[id]),
		"no list":         foreign,
	} {
		var damaged *DamagedError
		if _, err := f.CheckArchive(t.Context(), "demo", oid); !errors.As(err, &damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzMembers(f *testing.F) {
	f.Add("cp-03-20261120T094311123Z-4f2a " + strings.Repeat("a", 40) + "\n")
	f.Add("cp-03-20261120T094311123Z-4f2a\n\n")
	f.Fuzz(func(t *testing.T, list string) {
		members, err := parseMembers([]byte(list))
		for id, oid := range members {
			if !strings.Contains(list, string(id)+" "+string(oid)) || len(stamp(id)) < 19 {
				t.Errorf("%s %s is not in the list (%v)", id, oid, err)
			}
		}
	})
}
