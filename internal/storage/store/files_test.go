package store

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestActiveSession(t *testing.T) {
	f := newFixture(t)
	if s, err := f.ActiveSession(); s != "" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if err := f.ClearActiveSession(); err != nil {
		t.Error(err)
	}
	if err := f.SetActiveSession("demo"); err != nil {
		t.Fatal(err)
	}
	if s, err := f.ActiveSession(); s != "demo" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	for _, content := range []string{"", "../x\n", "a\nb\n", "demo\n\n", string(make([]byte, 5000))} {
		f.Write(f.path("checkpoint", "session"), content)
		if s, err := f.ActiveSession(); err == nil || !strings.Contains(err.Error(), strconv.Quote(f.path("checkpoint", "session"))+" is broken") || s != "" {
			t.Errorf("%.20q: %q %v", content, s, err)
		}
	}
	if err := f.SetActiveSession("other"); err != nil {
		t.Fatal(err)
	}
	if s, err := f.ActiveSession(); s != "other" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if err := f.ClearActiveSession(); err != nil {
		t.Error(err)
	}
	if s, err := f.ActiveSession(); s != "" || err != nil {
		t.Errorf("%q %v", s, err)
	}
}

func TestWorktreeID(t *testing.T) {
	f := newFixture(t)
	ids := make([]string, 32)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			id, err := f.WorktreeID()
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || len(id) != 32 {
			t.Fatalf("%q", ids)
		}
	}
	f.Write(f.path("checkpoint", "worktree-id"), "half of an")
	id, err := f.WorktreeID()
	if again, _ := f.WorktreeID(); err != nil || again != id || id == ids[0] || len(id) != 32 {
		t.Errorf("%q %q %v", id, again, err)
	}
	if left, _ := filepath.Glob(f.path("checkpoint", TempPrefix+"*")); len(left) != 0 {
		t.Errorf("temporaries: %q", left)
	}
}

// A worktree that was moved keeps its id. A copy gets a new one, however it was copied.
func TestWorktreeIDIsCopied(t *testing.T) {
	f := newFixture(t)
	first, err := f.WorktreeID()
	if err != nil {
		t.Fatal(err)
	}
	note, file := f.path("checkpoint", "worktree-place"), f.path("checkpoint", "worktree-id")
	noted, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(noted), " ", 4)
	is := func(what string, want bool) {
		t.Helper()
		id, err := f.WorktreeID()
		if again, _ := f.WorktreeID(); err != nil || again != id || (id == first) != want {
			t.Errorf("%s: it was %s, is %s, then %s: %v", what, first, id, again, err)
		}
		first = id
	}
	elsewhere := func(place ...string) string { return strings.Join(place, " ") }
	f.Write(note, elsewhere(parts[0], parts[1], parts[2], "/elsewhere\n"))
	is("moved", true)
	f.Write(note, elsewhere(parts[0], parts[1], "1", parts[3]))
	is("a mount with other inodes of directories", true)
	f.Write(note, elsewhere(parts[0], parts[1], "1", "/elsewhere\n"))
	is("a second worktree with the same git directory", false)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	f.Write(file, first+"\n") // with the same inode on many file systems
	is("restored", false)
	f.Write(file, strings.Repeat("a", 32)+"\n")
	first = strings.Repeat("a", 32)
	is("the id of another", false)
	if err := os.Remove(note); err != nil {
		t.Fatal(err)
	}
	is("of a version that noted nothing", true)
}

// Processes that start at the same time in a copy all get the same new id, and none gets that of the
// original.
func TestWorktreeIDIsCopiedForAll(t *testing.T) {
	f := newFixture(t)
	note, file := f.path("checkpoint", "worktree-place"), f.path("checkpoint", "worktree-id")
	for range 50 {
		first, err := f.WorktreeID()
		if err != nil {
			t.Fatal(err)
		}
		f.Write(note, first+" 1 1 /elsewhere\n")
		ids := make([]string, 16)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				id, err := f.WorktreeID()
				if err != nil {
					t.Error(err)
				}
				ids[i] = id
			})
		}
		wg.Wait()
		last, err := os.ReadFile(file)
		now := strings.TrimSuffix(string(last), "\n")
		if all := slices.Compact(ids); err != nil || len(all) != 1 || all[0] != now || now == first {
			t.Fatalf("the id was %s, is %s, and was given as %q: %v", first, now, ids, err)
		}
	}
}

func TestSweep(t *testing.T) {
	f := newFixture(t)
	if err := f.SetActiveSession("demo"); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(f.Dir, "outside")
	f.Write(filepath.Join(outside, "precious"), "x")
	old := time.Now().Add(-3 * time.Hour)
	for _, p := range []string{"tmp-old", "tmp-dir/deep/file", "tmp-new", "other"} {
		f.Write(f.path("checkpoint", p), "x")
	}
	if err := os.Symlink(outside, f.path("checkpoint", "tmp-link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"tmp-old", "tmp-dir", "other", "session"} {
		if err := os.Chtimes(f.path("checkpoint", p), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := f.Sweep(time.Hour); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if n, err := f.Sweep(-time.Hour); n != 2 || err != nil { // tmp-new and tmp-link
		t.Errorf("%d %v", n, err)
	}
	var left []string
	entries, err := os.ReadDir(f.path("checkpoint"))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || len(left) != 2 || left[0] != "other" || left[1] != "session" {
		t.Errorf("%q %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "precious")); err != nil {
		t.Error(err)
	}
}
