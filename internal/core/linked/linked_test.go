package linked_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// world is a repository with one commit, and a directory for worktrees beside it.
type world struct {
	*verbtest.World
	s *checkpoint.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: verbtest.Unborn(t, "[work]")}
	w.Begin()
	w.s = w.Open()
	return w
}

// begin writes the note of a worktree and makes the worktree without files.
func (w *world) begin(dir string) *linked.Note {
	w.Helper()
	n, err := linked.Begin(w.s.Repo, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir})
	if err == nil {
		err = linked.Add(w.Context(), w.s.Repo, linked.Place{Dir: dir, At: w.s.Repo.Head.OID})
	}
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// admin is git's directory of the only linked worktree, or "" if git knows none.
func (w *world) admin() string {
	w.Helper()
	entries, err := os.ReadDir(filepath.Join(w.Dir, ".git", "worktrees"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return ""
	}
	if err != nil || len(entries) != 1 {
		w.Fatalf("%v: %v", entries, err)
	}
	return filepath.Join(w.Dir, ".git", "worktrees", entries[0].Name())
}

// remove removes a file or directory.
func (w *world) remove(path string) {
	w.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.Fatal(err)
	}
}

// However far git came with a worktree, Clear leaves neither it, nor git's directory for it, nor the
// note.
func TestClear(t *testing.T) {
	for what, half := range map[string]func(w *world, dir string){
		"complete":       func(*world, string) {},
		"without a file": func(w *world, dir string) { w.remove(filepath.Join(dir, ".git")) },
		"without it":     func(w *world, dir string) { w.remove(dir) },
		"not begun":      func(w *world, dir string) { w.remove(dir); w.remove(w.admin()) },
		"locked":         func(w *world, dir string) { w.Git("worktree", "lock", dir) },
		"known by a relative path": func(w *world, dir string) {
			at, err := filepath.Rel(w.admin(), filepath.Join(dir, ".git"))
			if err == nil {
				err = os.WriteFile(filepath.Join(w.admin(), "gitdir"), []byte(at+"\n"), 0o666)
			}
			if err != nil {
				w.Fatal(err)
			}
			w.remove(filepath.Join(dir, ".git"))
		},
	} {
		for _, through := range []string{"", "link"} { // git resolves the link
			t.Run(what+" "+through, func(t *testing.T) {
				w := newWorld(t)
				if err := os.Symlink(".", filepath.Join(w.Root, "link")); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(w.Root, through, "try")
				n := w.begin(dir)
				half(w, dir)
				if err := n.Clear(t.Context(), w.s); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the worktree is left: %v", err)
				}
				if at := w.admin(); at != "" {
					t.Errorf("%s is left", at)
				}
				if _, err := linked.Begin(w.s.Repo, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir}); err != nil {
					t.Errorf("the note is left: %v", err)
				}
			})
		}
	}
}

// Clear keeps files in a directory that git does not know as a worktree.
func TestClearKeepsFiles(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.Root, "try")
	n := w.begin(dir)
	w.remove(filepath.Join(dir, ".git"))
	w.Write("../try/precious", "x")
	if err := n.Clear(t.Context(), w.s); err == nil {
		t.Error("it was cleared")
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Error(err)
	}
}

// Of two that begin the same worktree one gets ErrTaken. A note is left when its process has ended,
// and not while it runs.
func TestNote(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.Root, "try")
	n := w.begin(dir)
	if _, err := linked.Begin(w.s.Repo, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir}); !errors.Is(err, linked.ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
	if left, err := linked.Left(t.Context(), w.s.Repo); err != nil || len(left) != 0 {
		t.Errorf("while it runs: %v %v", left, err)
	}
	n.Process = "0 0"
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(".git/checkpoint/worktrees/fork-a.json", string(data))
	w.Write(".git/checkpoint/worktrees/tmp-1", "half of")
	w.Write(".git/checkpoint/worktrees/fork-b.json", "not ours")
	left, err := linked.Left(t.Context(), w.s.Repo)
	if err != nil || len(left) != 1 || left[0].Dir != dir {
		t.Fatalf("after it has ended: %v %v", left, err)
	}
	if err := left[0].End(); err != nil {
		t.Error(err)
	}
	if left, err := linked.Left(t.Context(), w.s.Repo); err != nil || len(left) != 0 {
		t.Errorf("after its end: %v %v", left, err)
	}
	if err := n.End(); err != nil {
		t.Errorf("a second end: %v", err)
	}
}

// The session of a fork is made last. If it exists, nothing is half-made, whatever the note says:
// nobody may remove a worktree in which the user has worked since.
func TestNoteOfCompleteFork(t *testing.T) {
	w := newWorld(t)
	n, err := linked.Begin(w.s.Repo, linked.Note{Kind: linked.KindFork, Name: "demo", Dir: filepath.Join(w.Root, "try"), Session: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	n.Process = "0 0"
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	const note = ".git/checkpoint/worktrees/fork-demo.json"
	w.Write(note, string(data))
	if left, err := linked.Left(t.Context(), w.s.Repo); err != nil || len(left) != 1 {
		t.Fatalf("without a session: %v %v", left, err)
	}
	if _, err := create.Checkpoint(t.Context(), w.s, create.Request{Session: "demo"}); err != nil {
		t.Fatal(err)
	}
	if left, err := linked.Left(t.Context(), w.s.Repo); err != nil || len(left) != 0 {
		t.Errorf("with its session: %v %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, note)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note is left: %v", err)
	}
}

// A new worktree gets the bytes of a checkpoint, its permission bits and what was staged. The
// worktree from which it is made stays as it is.
func TestFill(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	w.Git("add", "file")
	w.Write("file", "three\n")
	w.Write(".gitattributes", "*.txt text eol=crlf\n")
	w.Write("mixed.txt", "a\nb\r\n") // git would write other bytes
	w.Write("tool", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(w.Dir, "tool"), 0o710); err != nil {
		t.Fatal(err)
	}
	made, err := create.Checkpoint(t.Context(), w.s, create.Request{Session: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.s.Sessions.Resolve(t.Context(), "demo", string(made.Record.ID))
	if err != nil {
		t.Fatal(err)
	}
	target, err := rollback.TargetOf(t.Context(), w.s, found.Entry)
	if err != nil {
		t.Fatal(err)
	}
	before := w.Git("status", "--porcelain")
	w.begin(filepath.Join(w.Root, "try"))
	in, err := checkpoint.OpenAt(t.Context(), w.s, filepath.Join(w.Root, "try"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := linked.Fill(t.Context(), in, target); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"file": "three\n", "mixed.txt": "a\nb\r\n", "tool": "#!/bin/sh\n"} {
		if got, err := os.ReadFile(filepath.Join(w.Root, "try", path)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.Root, "try", "tool")); err != nil || info.Mode().Perm() != 0o710 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if got := w.Git("-C", "../try", "show", ":file"); got != "two" {
		t.Errorf("staged is %q", got)
	}
	if got := w.Git("-C", "../try", "status", "--porcelain"); got != before {
		t.Errorf("the status is\n%s\nand not\n%s", got, before)
	}
	if got := w.Git("status", "--porcelain"); got != before {
		t.Errorf("here the status is\n%s\nand not\n%s", got, before)
	}
}
