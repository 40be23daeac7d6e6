package store

import (
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// notesPaths lists the tree of refs/notes/checkpoints.
func (f *fixture) notesPaths() []string {
	f.Helper()
	return strings.Fields(f.Git("ls-tree", "-r", "--name-only", "refs/notes/checkpoints"))
}

// A user may edit notes with git, which then rewrites the tree with its own fan-out.
func TestNotesAfterGitEdit(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			one := f.commit("demo", f.create("demo", milestone{}))
			f.Git("notes", "--ref", "checkpoints", "add", "-m", "a note of mine", "HEAD")
			f.Git("notes", "--ref", "checkpoints", "append", "-m", "edited", string(one))
			if paths := f.notesPaths(); strings.Contains(paths[0], "/") {
				t.Fatalf("git left our layout alone, and the test is void: %q", paths)
			}
			two := f.commit("demo", f.create("demo", milestone{}))
			if got := f.Git("notes", "--ref", "checkpoints", "show", "HEAD"); got != "a note of mine" {
				t.Errorf("the user's note: %q", got)
			}
			if got := f.Git("notes", "--ref", "checkpoints", "show", string(one)); !strings.HasSuffix(got, "edited") {
				t.Errorf("the edited note: %q", got)
			}
			blob, err := f.RecordBlob(t.Context(), two)
			if got, noteErr := f.Note(t.Context(), two); got != blob || err != nil || noteErr != nil {
				t.Errorf("%s %s %v %v", got, blob, err, noteErr)
			}
			if got := f.Git("rev-parse", "refs/notes/checkpoints:"+notePath(two)); got != string(blob) {
				t.Errorf("%q", got)
			}

			// Mending the edited one replaces the other form of it, and only that.
			blob, err = f.RecordBlob(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			f.mustChange("demo", Change{Notes: []NewNote{{one, blob}}})
			if got, err := f.Note(t.Context(), one); got != blob || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if n := len(f.notesPaths()); n != 3 {
				t.Errorf("%d notes: %q", n, f.notesPaths())
			}
			if got := f.Git("notes", "--ref", "checkpoints", "show", "HEAD"); got != "a note of mine" {
				t.Errorf("the user's note: %q", got)
			}
		})
	}
}

// A note is found and replaced in every fan-out that git could have chosen.
func TestNoteForms(t *testing.T) {
	f := newFixture(t)
	c := f.commit("demo", f.create("demo", milestone{}))
	f.Git("update-ref", "-d", "refs/notes/checkpoints")
	other := f.Git("rev-parse", "HEAD^{tree}")
	blob := f.Git("hash-object", "-w", "/dev/null")
	h := string(c)
	for _, form := range []string{h, h[:2] + "/" + h[2:], h[:2] + "/" + h[2:4] + "/" + h[4:], h[:2] + "/" + h[2:4] + "/" + h[4:6] + "/" + h[6:]} {
		f.Git("read-tree", "--empty")
		f.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+form)
		f.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+other)
		f.Git("update-ref", "refs/notes/checkpoints", f.Git("commit-tree", "-m", "x", f.Git("write-tree")))
		if got, err := f.Note(t.Context(), c); string(got) != blob || err != nil {
			t.Errorf("%s: %q %v", form, got, err)
		}
		want, err := f.RecordBlob(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		f.mustChange("demo", Change{Notes: []NewNote{{c, want}}})
		if got := strings.Join(f.notesPaths(), " "); got != notePath(c)+" "+other && got != other+" "+notePath(c) {
			t.Errorf("%s: %q", form, got)
		}
	}
	f.Git("read-tree", "--empty")
	for _, form := range []string{h, notePath(c)} {
		f.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+form)
	}
	f.Git("update-ref", "refs/notes/checkpoints", f.Git("commit-tree", "-m", "x", f.Git("write-tree")))
	if _, err := f.Note(t.Context(), c); err == nil {
		t.Error("two notes on one commit were taken for one")
	}
}

func TestNotesHistory(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{})
	f.create("demo", milestone{})
	if n := f.Git("rev-list", "--count", "refs/notes/checkpoints"); n != "2" {
		t.Errorf("%s notes commits", n)
	}
	c := f.commit("demo", id)
	f.mustChange("demo", Change{
		Events: []journal.Event{{Kind: journal.KindPrune, Tombstones: []journal.Tombstone{{ID: id, Commit: c}}}},
		Remove: []Removal{{ID: id, Commit: c}, {ID: id}},
	})
	if n := f.Git("rev-list", "--count", "refs/notes/checkpoints"); n != "1" {
		t.Errorf("after a removal: %s notes commits", n)
	}
	if got, err := f.Note(t.Context(), c); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	f.Git("gc", "-q", "--prune=now")
	if out, err := f.Try("", "cat-file", "-e", string(c)); err == nil {
		t.Errorf("what was removed is still held: %s", out)
	}
	before := f.Git("rev-parse", "refs/notes/checkpoints")
	f.mustChange("demo", Change{Events: []journal.Event{{Kind: journal.KindStatus, Status: "paused"}}})
	if f.Git("rev-parse", "refs/notes/checkpoints") != before {
		t.Error("a change without notes made a notes commit")
	}
}

// A ref in the place of our directory prevents the notes from being written, and nothing else.
func TestForeignNotes(t *testing.T) {
	f := newFixture(t)
	f.Git("update-ref", "refs/notes/checkpoints/mine", "HEAD")
	id, res, err := create(t.Context(), f.Store, "demo", milestone{})
	if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "refs/notes/checkpoints/mine") {
		t.Fatalf("%q %v", res.Warnings, err)
	}
	if got := f.tags("demo"); got != "step-1="+string(id) {
		t.Errorf("%q", got)
	}
	if note, err := f.Note(t.Context(), f.commit("demo", id)); note != "" || err != nil {
		t.Errorf("%q %v", note, err)
	}
}

// Notes that cannot be read are given up with a warning, whatever is broken.
func TestBrokenNotes(t *testing.T) {
	for _, what := range []string{"commit", "tree", "subtree"} {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t)
			one := f.commit("demo", f.create("demo", milestone{}))
			spec := map[string]string{"commit": "", "tree": "^{tree}", "subtree": ":" + string(one[:2])}[what]
			f.drop(name.OID(f.Git("rev-parse", "refs/notes/checkpoints"+spec)))
			blob, err := f.RecordBlob(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			f.Now = func() time.Time { return time.Now().Add(time.Hour) } // else the same commit is made again
			res := f.mustChange("demo", Change{Notes: []NewNote{{one, blob}}})
			if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "rebuild") {
				t.Errorf("%q", res.Warnings)
			}
			if got, err := f.Note(t.Context(), one); got != blob || err != nil {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}
