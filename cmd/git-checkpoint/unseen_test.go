//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// An edit that leaves size and time as they were, in the second in which git last looked
// and after the index was written, is captured however the entry is compared. The time is
// an old one, so that git does not take the entry for too young to be trusted.
func TestUnseenEdit(t *testing.T) {
	setups := map[string]string{
		"plain":      "true",
		"submodule":  "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub",
		"flag":       "git update-index --assume-unchanged other",
		"hidden":     "git update-index --assume-unchanged file",
		"times":      "git config core.trustctime false; git config core.checkStat minimal",
		"converted":  "echo '* text=auto' >.gitattributes; git add .gitattributes",
		"watched":    `printf '#!/bin/sh\nprintf "x\\0"\n' >.git/fsm; chmod +x .git/fsm; git config core.fsmonitor .git/fsm; git update-index --fsmonitor; git status -s`,
		"split":      "git update-index --split-index",
		"sparse":     "git sparse-checkout set --cone --sparse-index in",
		"no cache":   "git config core.preloadIndex false; git update-index --force-write-index",
		"untracked":  "git update-index --untracked-cache; git status -s",
		"old format": "git update-index --index-version 4",
	}
	for i, name := range slices.Sorted(maps.Keys(setups)) {
		t.Run(name, func(t *testing.T) {
			scripttest.OneIn(t, 4, i)
			t.Parallel()
			w := newWorld(t)
			w.write("other", "other\n")
			w.write("file", "one\n")
			w.write("in/x", "x\n")
			w.run("git", "add", ".")
			w.run("git", "commit", "-qm", "one")
			w.run("sh", "-c", setups[name])
			for range 10 {
				if w.editUnseen("file", name == "hidden") {
					break
				}
			}
			id := w.created()
			if got := w.run("git", "show", "refs/checkpoints/main/"+id+":file"); got != "six\n" {
				t.Errorf("%q was captured", got)
			}
			w.write("file", "end\n")
			w.run("git-checkpoint", "rollback", id, "-y")
			if got := w.run("cat", "file"); got != "six\n" {
				t.Errorf("%q came back", got)
			}
		})
	}
}

// editUnseen stages a file and then edits it so that size and time stay. It reports
// whether all that was in one second.
func (w *world) editUnseen(name string, hide bool) bool {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	second := func() (os.FileInfo, int64) {
		info, err := os.Stat(path)
		if err != nil {
			w.t.Fatal(err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			w.t.Skip("no stat data")
		}
		return info, int64(st.Ctim.Sec) //nolint:unconvert // 32-bit systems
	}
	w.run("git", "update-index", "--no-assume-unchanged", name)
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	w.write(name, "two\n")
	old := time.Unix(978307200, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		w.t.Fatal(err)
	}
	w.run("git", "update-index", "--add", name)
	info, began := second()
	if hide {
		w.run("git", "update-index", "--assume-unchanged", name)
	}
	time.Sleep(30 * time.Millisecond)
	w.run("git", "update-index", "--force-write-index")
	time.Sleep(30 * time.Millisecond)
	w.write(name, "six\n")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		w.t.Fatal(err)
	}
	_, ended := second()
	return began == ended
}

// An undo gives back permission bits that the umask would not give, also those that many
// files have: of a file that the rollback wrote, and of one that it took away.
func TestUndoKeepsBits(t *testing.T) {
	for _, bits := range []os.FileMode{0o664, 0o444, 0o600, 0o777} {
		w, _, _ := twoSides(t)
		for _, name := range []string{"edited", "new/file"} {
			if err := os.Chmod(filepath.Join(w.dir, name), bits); err != nil {
				t.Fatal(err)
			}
		}
		w.run("git-checkpoint", "rollback", "1", "-y")
		w.run("git-checkpoint", "undo", "-y")
		for _, name := range []string{"edited", "new/file"} {
			if info, err := os.Stat(filepath.Join(w.dir, name)); err != nil || info.Mode().Perm() != bits {
				t.Errorf("%s: %v %v, not %v", name, info.Mode().Perm(), err, bits)
			}
		}
	}
}

// The bits are those that the file had then, also where it has others now that are as
// usual as those: whichever way the worktree is scanned.
func TestBitsOfThen(t *testing.T) {
	scripttest.Long(t)
	for _, scanner := range []string{"native", "git"} {
		w, _, _ := twoSides(t)
		w.run("git", "config", "checkpoint.scanner", scanner)
		bits := func(name string, want os.FileMode) {
			t.Helper()
			if info, err := os.Stat(filepath.Join(w.dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s, %s: %v %v, not %v", scanner, name, info.Mode().Perm(), err, want)
			}
		}
		w.write("private", "secret\n")
		w.run("chmod", "600", "private", "same")
		id := w.created()
		w.run("rm", "private", "same")
		w.write("private", "public\n")
		w.run("chmod", "644", "private")
		w.run("git-checkpoint", "rollback", id, "-y")
		bits("private", 0o600)
		bits("same", 0o600)
		w.run("git-checkpoint", "undo", "-y")
		bits("private", 0o644)
		w.run("git-checkpoint", "redo", "-y")
		bits("private", 0o600)
		bits("same", 0o600)
	}
}
