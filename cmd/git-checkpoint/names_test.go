//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// The names that the rules speak of, each as a file and as a directory above one.
func hardNames() []string {
	names := []string{
		"new\nline", "a\ttab", `quo"te`, "it's", "-leading", "--", " spaces at both ends ", "back\\slash", "\x01\x7fcontrol",
		"invalid\xff\xfeUTF-8", "caf\u00e9", "cafe\u0301", "Case", "case", "*", "[a]", ":(top)x", "!not", "#comment", "$(x)", "%s",
		"\u202egnp", "...", "..a", "con", "trailing.", "\U0001f600", ".gitfoo", "x.lock",
	}
	return append(names, strings.Repeat("n", 255))
}

// fillHard makes one side of everything that has to survive. The sides differ in every
// path: content, type, mode or presence.
func (w *world) fillHard(side string) {
	other := map[string]string{"a": "b", "b": "a"}[side]
	w.run("sh", "-c", "chmod -R u+rwX . && find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +")
	for i, n := range hardNames() {
		switch {
		case i%3 == 0:
			w.write(n, n+side)
		case (i%3 == 1) == (side == "a"):
			w.write(n, n+side) // and a directory of that name on the other side
		default:
			w.write(filepath.Join(n, n), n+side)
		}
		if side == "a" {
			w.write(filepath.Join("only-a", n, "x"), n)
		}
	}
	for name, content := range map[string]string{
		"empty-" + side: "", "empty": strings.Repeat(side, len(other)-1), "crlf": "one\r\ntwo\r\n" + side, "mixed": side + "\r\n\n\r", "bom": "\xef\xbb\xbf" + side, "nul": "\x00" + side + "\x00",
		"pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(side, 64) + "\nsize 5\n", "large": strings.Repeat(side+"0123456789\n", 500_000),
		"ignored-but-tracked.ig": side, "hard-1": side, ".gitattributes": map[string]string{"a": "crlf text\n", "b": "* -text\n"}[side],
	} {
		w.write(name, content)
	}
	w.write(".gitignore", "*.ig\n")
	link := func(name, a, b string) {
		target := a
		if side == "b" {
			target = b
		}
		if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
			w.t.Fatal(err)
		}
	}
	link("dangling", "nowhere", "gone/away")
	link("to-dir", "only-a", ".")
	link("out", "/tmp", "../..")
	link("long", strings.Repeat("x/", 500), "short")
	if side == "a" { // a link that a directory replaces, and the other way round
		link("link-or-dir", "only-a", "")
		w.write("dir-or-link/x/y", "y")
		w.write("executable", "#!/bin/sh\n")
	} else {
		w.write("link-or-dir/x/y", "y")
		link("dir-or-link", "", "link-or-dir")
		w.write("executable", "#!/bin/sh\n")
		w.run("chmod", "700", "executable")
		w.run("chmod", "640", "crlf")
		w.run("ln", "hard-1", "hard-2")
	}
	w.write("same-size", side+"xxx")
	then := time.Unix(978307200, 123456789)
	if err := os.Chtimes(filepath.Join(w.dir, "same-size"), then, then); err != nil {
		w.t.Fatal(err)
	}
	w.deep(side)
}

// deep writes a file whose path is 4,000 bytes long; only step by step can it be reached.
func (w *world) deep(content string) {
	w.t.Helper()
	name := strings.Repeat("d", 199)
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only a directory handle
	path := strings.Repeat(name+"/", 19) + strings.Repeat("f", 200)
	if err = root.MkdirAll(filepath.Dir(path), 0o777); err == nil {
		err = root.WriteFile(path, []byte(content), 0o666)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// lookDeep is look with what a path of 4,000 bytes leads to: files by their names,
// contents and bits.
func (w *world) lookDeep() string {
	w.t.Helper()
	const list = `find . -path ./.git -prune -o -type d -printf "" -o -printf "%p %y %m %s %l\n" | LC_ALL=C sort
find . -path ./.git -prune -o -type f -execdir sha256sum {} + | LC_ALL=C sort`
	return w.run("sh", "-c", list) + w.run("git", "ls-files", "-s", "-v", "-t", "-z")
}

// Every name and every content survives a rollback and its undo, in both directions.
func TestNamesAndContents(t *testing.T) {
	scripttest.Long(t)
	if exec.Command("find", "--version").Run() != nil {
		t.Skip("there is no find with -printf")
	}
	for _, added := range []string{"nothing", "all", "forced"} {
		t.Run(added+" staged", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sides, ids := map[string]string{}, []string(nil)
			for _, side := range []string{"a", "b"} {
				w.fillHard(side)
				switch added {
				case "all":
					w.run("git", "add", "-A")
				case "forced":
					w.run("git", "add", "-f", "-A")
					w.run("git", "commit", "-qm", side)
				}
				id := w.created("--include-ignored", "*.ig")
				sides[id] = w.lookDeep()
				ids = append(ids, id)
			}
			for _, to := range append(ids, ids[0]) {
				was := w.lookDeep()
				// Where HEAD has moved, only this brings back the index as it was.
				w.run("git-checkpoint", "rollback", to, "-y", "--index", "exact")
				if got := w.lookDeep(); got != sides[to] {
					t.Errorf("after a rollback to %s:\n%s", to, firstDifference(sides[to], got))
				}
				w.run("git-checkpoint", "undo", "-y")
				if got := w.lookDeep(); got != was {
					t.Errorf("after the undo of a rollback to %s:\n%s", to, firstDifference(was, got))
				}
				w.run("git-checkpoint", "rollback", to, "-y")
			}
			w.run("git", "fsck", "--no-dangling")
		})
	}
}

// created makes a checkpoint and gives its id.
func (w *world) created(flags ...string) string {
	w.t.Helper()
	var made struct{ ID string }
	// Warnings, as of a private file in a repository that others read, come before the answer.
	said := w.run(append([]string{"git-checkpoint", "create", "--json"}, flags...)...)
	if err := json.Unmarshal([]byte(said[strings.Index(said, "{"):]), &made); err != nil {
		w.t.Fatal(err)
	}
	return made.ID
}

// firstDifference is where two texts begin to differ.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return "want " + a[i] + "\ngot  " + strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		}
	}
	return "more: " + strings.Join(b[len(a):], "\n")
}
