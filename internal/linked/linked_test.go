package linked_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/linked"
	"git-checkpoint/internal/rollback"
)

// world is a repository with one commit, and a directory for worktrees beside it.
type world struct {
	t    *testing.T
	root string
	dir  string
	env  []string
	s    *checkpoint.Service
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, dir: filepath.Join(root, "[work]"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}}
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.write("[work]/file", "one\n")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "first")
	w.s, err = checkpoint.Open(t.Context(), checkpoint.Options{Dir: w.dir, Env: w.env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.s.Close() })
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes a file below the root.
func (w *world) write(path, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.root, path), []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// begin writes the note of a worktree and makes the worktree without files.
func (w *world) begin(dir string) *linked.Note {
	w.t.Helper()
	n, err := linked.Begin(w.s, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir})
	if err == nil {
		err = linked.Add(w.t.Context(), w.s, linked.Place{Dir: dir, At: w.s.Repo.Head.OID})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// remove removes a file or directory.
func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.t.Fatal(err)
	}
}

// admin is git's directory of the only linked worktree, or "" if git knows none.
func (w *world) admin() string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, ".git", "worktrees"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return ""
	}
	if err != nil || len(entries) != 1 {
		w.t.Fatalf("%v: %v", entries, err)
	}
	return filepath.Join(w.dir, ".git", "worktrees", entries[0].Name())
}

// However far git came with a worktree, Clear leaves neither it, nor git's directory for it, nor the
// note.
func TestClear(t *testing.T) {
	for what, half := range map[string]func(w *world, dir string){
		"complete":       func(*world, string) {},
		"without a file": func(w *world, dir string) { w.remove(filepath.Join(dir, ".git")) },
		"without it":     func(w *world, dir string) { w.remove(dir) },
		"not begun":      func(w *world, dir string) { w.remove(dir); w.remove(w.admin()) },
		"locked":         func(w *world, dir string) { w.git("worktree", "lock", dir) },
		"known by a relative path": func(w *world, dir string) {
			at, err := filepath.Rel(w.admin(), filepath.Join(dir, ".git"))
			if err == nil {
				err = os.WriteFile(filepath.Join(w.admin(), "gitdir"), []byte(at+"\n"), 0o666)
			}
			if err != nil {
				w.t.Fatal(err)
			}
			w.remove(filepath.Join(dir, ".git"))
		},
	} {
		for _, through := range []string{"", "link"} { // git resolves the link
			t.Run(what+" "+through, func(t *testing.T) {
				w := newWorld(t)
				if err := os.Symlink(".", filepath.Join(w.root, "link")); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(w.root, through, "try")
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
				if _, err := linked.Begin(w.s, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir}); err != nil {
					t.Errorf("the note is left: %v", err)
				}
			})
		}
	}
}

// Clear keeps files in a directory that git does not know as a worktree.
func TestClearKeepsFiles(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.root, "try")
	n := w.begin(dir)
	w.remove(filepath.Join(dir, ".git"))
	w.write("try/precious", "x")
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
	dir := filepath.Join(w.root, "try")
	n := w.begin(dir)
	if _, err := linked.Begin(w.s, linked.Note{Kind: linked.KindFork, Name: "a", Dir: dir}); !errors.Is(err, linked.ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
	if left, err := linked.Left(w.s); err != nil || len(left) != 0 {
		t.Errorf("while it runs: %v %v", left, err)
	}
	n.Process = "0 0"
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	w.write("[work]/.git/checkpoint/worktrees/fork-a.json", string(data))
	w.write("[work]/.git/checkpoint/worktrees/tmp-1", "half of")
	w.write("[work]/.git/checkpoint/worktrees/fork-b.json", "not ours")
	left, err := linked.Left(w.s)
	if err != nil || len(left) != 1 || left[0].Dir != dir {
		t.Fatalf("after it has ended: %v %v", left, err)
	}
	if err := left[0].End(); err != nil {
		t.Error(err)
	}
	if left, err := linked.Left(w.s); err != nil || len(left) != 0 {
		t.Errorf("after its end: %v %v", left, err)
	}
	if err := n.End(); err != nil {
		t.Errorf("a second end: %v", err)
	}
}

// A new worktree gets the bytes of a checkpoint, its permission bits and what was staged. The
// worktree from which it is made stays as it is.
func TestFill(t *testing.T) {
	w := newWorld(t)
	w.write("[work]/file", "two\n")
	w.git("add", "file")
	w.write("[work]/file", "three\n")
	w.write("[work]/.gitattributes", "*.txt text eol=crlf\n")
	w.write("[work]/mixed.txt", "a\nb\r\n") // git would write other bytes
	w.write("[work]/tool", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(w.dir, "tool"), 0o710); err != nil {
		t.Fatal(err)
	}
	made, err := create.Checkpoint(t.Context(), w.s, create.Request{Session: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.s.Resolve(t.Context(), "demo", string(made.Record.ID))
	if err != nil {
		t.Fatal(err)
	}
	target, err := rollback.TargetOf(t.Context(), w.s, found.Entry)
	if err != nil {
		t.Fatal(err)
	}
	before := w.git("status", "--porcelain")
	w.begin(filepath.Join(w.root, "try"))
	in, err := checkpoint.OpenAt(t.Context(), w.s, filepath.Join(w.root, "try"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // only a test
	if err := linked.Fill(t.Context(), in, target); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"file": "three\n", "mixed.txt": "a\nb\r\n", "tool": "#!/bin/sh\n"} {
		if got, err := os.ReadFile(filepath.Join(w.root, "try", path)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.root, "try", "tool")); err != nil || info.Mode().Perm() != 0o710 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if got := w.git("-C", "../try", "show", ":file"); got != "two" {
		t.Errorf("staged is %q", got)
	}
	if got := w.git("-C", "../try", "status", "--porcelain"); got != before {
		t.Errorf("the status is\n%s\nand not\n%s", got, before)
	}
	if got := w.git("status", "--porcelain"); got != before {
		t.Errorf("here the status is\n%s\nand not\n%s", got, before)
	}
}
