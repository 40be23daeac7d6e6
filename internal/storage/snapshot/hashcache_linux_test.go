package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// seeing captures the worktree in a repository of its own, as the next process would, and returns
// the tree and the paths of the files that were read for it.
func seeing(t *testing.T, top string) (name.OID, string) {
	t.Helper()
	repo, err := git.Open(t.Context(), git.Options{Dir: top})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	var mu sync.Mutex
	var read []string
	look := func(path string, _ name.OID, content []byte) {
		mu.Lock()
		defer mu.Unlock()
		if content != nil {
			read = append(read, path)
		}
	}
	c, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 30, Look: look})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(read)
	return c.Tree, strings.Join(read, " ")
}

// A capture reads a file that the index does not know only if it has changed since the previous
// capture, or if they are too young to be sure. The tree is that of git add in any case.
func TestSeen(t *testing.T) {
	t.Parallel() // it waits for the clock
	repo := repository(t)
	top := repo.WorkTree
	file := func(path string) string { return filepath.Join(top, path) }
	check := func(what, want string) {
		t.Helper()
		tree, read := seeing(t, top)
		if read != want {
			t.Errorf("%s: read %q, not %q", what, read, want)
		}
		index := filepath.Join(t.TempDir(), "index")
		for _, args := range [][]string{{"read-tree", "HEAD"}, {"add", "-A"}, {"write-tree"}} {
			res, err := repo.Run(t.Context(), git.Cmd{Args: args, Env: []string{"GIT_INDEX_FILE=" + index}})
			if err != nil {
				t.Fatal(err)
			}
			if added := strings.TrimSpace(string(res.Stdout)); args[0] == "write-tree" && added != string(tree) {
				t.Errorf("%s: tree %s, and git add gives %s", what, tree, added)
			}
		}
	}
	// On a busy machine the tick may be over before the captures that need it are.
	for young := false; !young; {
		begun := time.Now()
		for _, path := range []string{"a", "b", "c"} {
			put(t, file(path), path+"\r\n")
		}
		check("new files", "a b c")
		tree, read := seeing(t, top)
		if young = sameTick(begun); young && read != "a b c" {
			t.Errorf("files of this clock tick: read %q, tree %s", read, tree)
		}
	}
	time.Sleep(clockTick + 100*time.Millisecond)
	check("the tick in which they were written is over", "a b c")
	check("seen files", "")

	info, err := os.Stat(file("b"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, file("b"), "B\r\n")
	if err := os.Chtimes(file("b"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	check("an edit that keeps size and mtime", "b")
	put(t, file("b"), "b\r\n")
	time.Sleep(clockTick + 100*time.Millisecond)
	check("and back", "b")

	lost := string(git.HashObject("sha1", "blob", []byte("a\r\n")))
	if err := os.Remove(filepath.Join(repo.GitDir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	check("an object is lost", "a")

	put(t, filepath.Join(repo.GitDir, "info", "attributes"), "* text\n")
	check("line endings are converted now", "")
	if err := os.Remove(filepath.Join(repo.GitDir, "info", "attributes")); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(repo.GitDir, "checkpoint", "seen")
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	put(t, seen, string(data))
	check("a damaged cache", "a b c")
}

// sameTick reports whether the clock tick in which something began has not ended yet.
func sameTick(begun time.Time) bool {
	return time.Now().Truncate(clockTick).Equal(begun.Truncate(clockTick))
}

// A file that git converts is given to its filter only if it has changed since the previous capture.
// What was remembered counts under the same filter and attributes only, and while its objects exist.
func TestSeenConverted(t *testing.T) {
	t.Parallel() // it waits for the clock
	repo := repository(t)
	top, calls := repo.WorkTree, filepath.Join(t.TempDir(), "calls")
	set := func(key, value string) {
		t.Helper()
		if _, err := repo.Output(t.Context(), "config", key, value); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, files ...string) {
		t.Helper()
		before, _ := os.ReadFile(calls)
		again, err := git.Open(t.Context(), git.Options{Dir: top})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		shot, err := New(again)
		if err != nil {
			t.Fatal(err)
		}
		defer shot.Close()
		c, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(calls)
		got := strings.Fields(string(after[len(before):]))
		if slices.Sort(got); !slices.Equal(got, files) {
			t.Errorf("%s: the filter got %q, not %q", what, got, files)
		}
		for _, f := range []struct{ path, blob, raw string }{{"exact.f", "same\n", ""}, {"raw.f", "SHOUTED\n", "shouted\n"}} {
			e, _, err := again.Trees.Lookup(t.Context(), c.Tree, f.path)
			if err != nil || what != "other attributes" && e.OID != git.HashObject("sha1", "blob", []byte(f.blob)) {
				t.Errorf("%s: %s is %s, %v", what, f.path, e.OID, err)
			}
			if f.raw != "" && what != "other attributes" && c.Raw[f.path] != git.HashObject("sha1", "blob", []byte(f.raw)) {
				t.Errorf("%s: the bytes of %s are %q", what, f.path, c.Raw[f.path])
			}
		}
	}
	set("filter.f.smudge", "cat")
	set("filter.f.required", "true")
	put(t, filepath.Join(top, ".gitattributes"), "*.f filter=f\n")
	set("filter.f.clean", "echo %f >>"+calls+"; case %f in raw.f) tr a-z A-Z;; *) cat;; esac")
	for begun := (time.Time{}); !sameTick(begun); {
		begun = time.Now()
		put(t, filepath.Join(top, "raw.f"), "shouted\n")
		put(t, filepath.Join(top, "exact.f"), "same\n")
		check("new files", "exact.f", "raw.f")
	}
	time.Sleep(clockTick + 100*time.Millisecond)
	check("the tick in which they were written is over", "exact.f", "raw.f")
	check("seen files")
	lost := string(git.HashObject("sha1", "blob", []byte("shouted\n")))
	if err := os.Remove(filepath.Join(repo.GitDir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	check("the exact bytes are lost", "raw.f")
	put(t, filepath.Join(repo.GitDir, "info", "attributes"), "raw.f -filter\n")
	check("other attributes", "exact.f")
	if err := os.Remove(filepath.Join(repo.GitDir, "info", "attributes")); err != nil {
		t.Fatal(err)
	}
	set("filter.f.smudge", "echo out-%f >>"+calls+"; cat")
	if _, err := repo.Output(t.Context(), "add", "exact.f"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(clockTick + 100*time.Millisecond)
	check("a staged file is compared with its checkout", "out-exact.f", "out-raw.f", "raw.f")
	check("once")
}
