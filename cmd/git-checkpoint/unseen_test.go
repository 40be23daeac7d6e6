//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An edit that leaves size and time as they were, in the second in which git last looked
// and after the index was written, is captured however the entry is compared.
func TestUnseenEdit(t *testing.T) {
	for name, setup := range map[string]string{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("other", "other\n")
			w.write("file", "one\n")
			w.write("in/x", "x\n")
			w.run("git", "add", ".")
			w.run("git", "commit", "-qm", "one")
			w.run("sh", "-c", setup)
			path := filepath.Join(w.dir, "file")
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // all of it in one second
			w.write("file", "two\n")
			w.run("git", "update-index", "--no-assume-unchanged", "file")
			w.run("git", "update-index", "--add", "file")
			if name == "hidden" {
				w.run("git", "update-index", "--assume-unchanged", "file")
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Millisecond)
			w.run("git", "update-index", "--force-write-index")
			time.Sleep(30 * time.Millisecond)
			w.write("file", "six\n")
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
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
