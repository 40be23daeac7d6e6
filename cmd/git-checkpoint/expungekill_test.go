package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

const planted = "AKIAQYLPMN5HHHFPZAM2"

// leak makes a repository whose checkpoints hold a secret, one of them in an archive.
func leak(t *testing.T) *world {
	w := newWorld(t)
	w.env = append(w.env, "GIT_CHECKPOINT_GUARD=off")
	w.write("base", "base\n")
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "base")
	w.run("git-checkpoint", "session", "start", "kept")
	w.write("config.env", "key="+planted+"\n")
	w.run("git-checkpoint", "save", "one")
	w.run("git-checkpoint", "session", "close")
	w.run("git-checkpoint", "session", "archive", "kept")
	w.run("git-checkpoint", "session", "start", "job")
	w.run("git-checkpoint", "save", "with "+planted)
	w.write("more", "more\n")
	w.run("git-checkpoint", "save", "two")
	w.run("git-checkpoint", "pin", "1")
	w.run("git-checkpoint", "rollback", "1", "-y")
	if err := os.Remove(filepath.Join(w.dir, "config.env")); err != nil {
		t.Fatal(err)
	}
	return w
}

// clean ends an expunge that was cut off, lets git collect, and looks at every object.
func (w *world) clean() {
	w.t.Helper()
	if out, code := w.try("git-checkpoint", "expunge", "--rule", "aws-access-key", "-y"); code != 0 && !strings.Contains(out, "no checkpoint holds") {
		w.t.Fatalf("exit code %d\n%s", code, out)
	}
	w.run("git", "reflog", "expire", "--expire=now", "--all")
	w.run("git", "gc", "-q", "--prune=now")
	for _, line := range strings.Split(strings.TrimSpace(w.run("git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")), "\n") {
		oid, kind, _ := strings.Cut(line, " ")
		if content := w.run("git", "cat-file", kind, oid); strings.Contains(content, planted) {
			w.t.Fatalf("%s %s holds it:\n%s\n%s", kind, oid, content, w.run("git", "for-each-ref"))
		}
	}
	w.run("git-checkpoint", "validate", "--all", "--deep")
	w.run("git", "fsck", "--strict")
	for session, want := range map[string]int{"kept": 1, "job": 3} {
		if got := strings.Count(w.run("git-checkpoint", "list", "--session", session, "--json"), "\n"); got != want {
			w.t.Fatalf("session %s has %d checkpoints of %d", session, got, want)
		}
	}
	if pins := w.run("git-checkpoint", "list", "--session", "job", "--json"); strings.Count(pins, `"pinned":true`) != 1 {
		w.t.Fatalf("the pin did not follow:\n%s", pins)
	}
}

// An expunge that is killed at a step is ended by running it again.
func TestKilledExpunge(t *testing.T) {
	for i, step := range []string{"listed", "rewritten", "expunged", "listed:2", "rewritten:2", "expunged:2"} {
		t.Run(step, func(t *testing.T) {
			scripttest.OneIn(t, 4, i+3)
			w := leak(t)
			w.env = append(w.env, failpointVariable+"="+step)
			if out, code := w.try("git-checkpoint", "expunge", "--rule", "aws-access-key", "-y"); code != -1 {
				t.Fatalf("not killed at %q: exit code %d\n%s", step, code, out)
			}
			w.env = w.env[:len(w.env)-1]
			w.clean()
		})
	}
}

// git's file store moves the refs of a transaction one after the other: every beginning of
// that is ended by running the expunge again.
func TestKilledExpungeBetweenRefs(t *testing.T) {
	scripttest.Long(t)
	w := leak(t)
	before := refsOf(w)
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	w.run("git-checkpoint", "expunge", "--rule", "aws-access-key", "--session", "job", "-y")
	var changed []string
	after := refsOf(w)
	for ref := range before {
		if before[ref] != after[ref] {
			changed = append(changed, ref)
		}
	}
	for ref := range after {
		if before[ref] == "" {
			changed = append(changed, ref)
		}
	}
	slices.SortFunc(changed, func(a, b string) int {
		return cmp.Or(cmp.Compare(turn(a, after), turn(b, after)), cmp.Compare(a, b))
	})
	for n := range len(changed) {
		again := &world{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: w.env}
		if err := os.CopyFS(again.dir, os.DirFS(backup)); err != nil {
			t.Fatal(err)
		}
		again.run("git", "fetch", "-q", "--no-write-fetch-head", w.dir, "+refs/checkpoints/*:refs/from/*", "+refs/notes/*:refs/from-notes/*", "+refs/tags/*:refs/from-tags/*")
		for _, ref := range changed[:n] {
			if after[ref] == "" {
				again.run("git", "update-ref", "-d", ref)
			} else {
				again.run("git", "update-ref", ref, after[ref])
			}
		}
		for _, ref := range strings.Fields(again.run("git", "for-each-ref", "--format=%(refname)", "refs/from", "refs/from-notes", "refs/from-tags")) {
			again.run("git", "update-ref", "-d", ref)
		}
		t.Log(fmt.Sprint(changed[:n]))
		again.clean()
	}
}

func refsOf(w *world) map[string]string {
	refs := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(w.run("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints", "refs/notes", "refs/tags")), "\n") {
		ref, oid, _ := strings.Cut(line, " ")
		refs[ref] = oid
	}
	return refs
}

// turn is when a ref is moved: new checkpoints, journal, archive, notes, tags, deletions.
func turn(ref string, after map[string]string) int {
	switch {
	case after[ref] == "":
		return 5
	case strings.HasPrefix(ref, "refs/tags/"):
		return 4
	case strings.HasPrefix(ref, "refs/notes/"):
		return 3
	case strings.HasSuffix(ref, "/archive"):
		return 2
	case strings.HasSuffix(ref, "/journal"):
		return 1
	}
	return 0
}
