//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// A clock that jumps back and forth, and files and an index of the future or of before
// 1970, cost nothing: everything is captured, comes back, and stands in its order.
func TestClockJumps(t *testing.T) {
	w, before, after := twoSides(t)
	at := func(now string, args ...string) string {
		w.env = append(w.env, "GIT_CHECKPOINT_NOW="+now)
		defer func() { w.env = w.env[:len(w.env)-1] }()
		return w.run(append([]string{"git-checkpoint"}, args...)...)
	}
	at("2001-01-01T00:00:00Z", "create", "-m", "past")
	at("2100-01-01T00:00:00Z", "create", "-m", "future")
	at("1999-01-01T00:00:00Z", "rollback", "1", "-y", "--branch")
	if now := w.look(); now != before {
		t.Errorf("after a rollback of the past:\n%s", now)
	}
	at("2099-01-01T00:00:00Z", "undo", "-y")
	if now := w.look(); now != after {
		t.Errorf("after an undo of the future:\n%s", now)
	}
	at("2000-01-01T00:00:00Z", "create", "-m", "last")
	if out := w.run("git-checkpoint", "list"); strings.Index(out, "past") < strings.Index(out, "future") || strings.Index(out, "future") < strings.Index(out, "last") || !strings.Contains(out, "last") {
		t.Errorf("not in the order in which they were made:\n%s", out)
	}
	w.run("git-checkpoint", "validate", "--all")

	for i, year := range []int{1960, 1970, 2040, 2107, 2300} {
		when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		path := filepath.Join(w.dir, "edited")
		set := func(text string) {
			w.write("edited", text)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Skip(err)
			}
		}
		set("one" + string(rune('a'+i)) + "\n")
		w.run("git", "add", "edited")
		if err := os.Chtimes(filepath.Join(w.dir, ".git", "index"), when, when); err != nil {
			t.Fatal(err)
		}
		set("two" + string(rune('a'+i)) + "\n")
		id := w.created()
		seen := w.look()
		set("end" + string(rune('a'+i)) + "\n")
		w.run("git-checkpoint", "rollback", id, "-y")
		if now := w.look(); now != seen {
			t.Errorf("%d: this is there:\n%s\nwant:\n%s", year, now, seen)
		}
	}
}

// Below 1,900 directories everything works as elsewhere.
func TestNestedDirectories(t *testing.T) {
	scripttest.Long(t)
	w, _, _ := twoSides(t)
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only a directory handle
	deep := strings.Repeat("d/", 1900)
	if err := root.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := root.WriteFile(deep+name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	demand := func(name, text string) {
		t.Helper()
		if data, _ := root.ReadFile(deep + name); string(data) != text { //nolint:errcheck // its content says it
			t.Errorf("%s is %q, not %q", name, data, text)
		}
	}
	write("f", "one")
	id := w.created()
	write("f", "two")
	write("g", "new")
	w.run("git-checkpoint", "rollback", id, "-y")
	demand("f", "one")
	demand("g", "")
	w.run("git-checkpoint", "undo", "-y")
	demand("f", "two")
	demand("g", "new")
	w.run("git-checkpoint", "rollback", "1", "-y")
	if _, err := os.Lstat(filepath.Join(w.dir, "d")); !os.IsNotExist(err) {
		t.Error("the emptied directories are there")
	}
}

// Where git keeps refs in a reftable everything works as elsewhere; where git does not
// know of any, nothing is written and git's reason is given.
func TestReftable(t *testing.T) {
	w := newWorld(t)
	w.run("rm", "-rf", ".git")
	if _, code := w.try("git", "init", "-q", "-b", "main", "--ref-format=reftable"); code != 0 {
		w.run("git", "init", "-q")
		w.run("git", "config", "core.repositoryFormatVersion", "1")
		w.run("git", "config", "extensions.refStorage", "reftable")
		list := []string{"find", ".", "-printf", "%p %T@ %C@\n"}
		was := w.run(list...)
		for _, args := range [][]string{{"create"}, {"rollback", "1", "-y"}, {"undo", "-y"}, {"list"}, {"doctor", "--fix"}} {
			out, code := w.try(append([]string{"git-checkpoint"}, args...)...)
			if code != 128 || !strings.Contains(out, "refstorage") {
				t.Errorf("%v: exit code %d: %s", args, code, out)
			}
		}
		if is := w.run(list...); is != was {
			t.Errorf("this is there:\n%s\nand was:\n%s", is, was)
		}
		return
	}
	before, after := w.fill()
	w.run("git-checkpoint", "create", "-m", "two")
	w.run("git-checkpoint", "rollback", "1", "-y", "--branch")
	if now := w.look(); now != before {
		t.Errorf("after the rollback:\n%s", now)
	}
	w.run("git-checkpoint", "undo", "-y")
	if now := w.look(); now != after {
		t.Errorf("after the undo:\n%s", now)
	}
	w.run("git-checkpoint", "delete", "1", "-y")
	w.run("git-checkpoint", "prune", "-y", "--keep", "1", "--gc")
	w.run("git-checkpoint", "validate", "--all", "--deep")
	w.run("git", "fsck", "--strict")
}
