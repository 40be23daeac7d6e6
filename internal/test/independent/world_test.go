// Package independent reads what the program wrote with another implementation of git,
// go-git, by nothing but docs/format.md: it imports no package of the program and only
// runs it. What both say has to agree. It has tests only.
package independent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	git "github.com/go-git/go-git/v5"
)

// TestMain builds the program as people install it, into a directory of its own.
func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	bin, err := os.MkdirTemp("", "independent-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin) //nolint:errcheck // a temporary directory
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(os.PathSeparator), "git-checkpoint/cmd/git-checkpoint")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")) //nolint:errcheck // it cannot fail for these
	return m.Run()
}

// world is a repository in which the program works, beside the home of its user.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) world {
	w := world{t, filepath.Join(t.TempDir(), "repo")}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.run("git", "init", "-q", "-b", "main")
	return w
}

// run runs a command in the world and returns what it wrote to stdout.
func (w world) run(args ...string) string {
	w.t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "HOME="+filepath.Dir(w.dir), "XDG_CONFIG_HOME="+filepath.Dir(w.dir), "GIT_CONFIG_NOSYSTEM=1", "GIT_CHECKPOINT_TAGPRIVATE=true",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		w.t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

func (w world) checkpoint(args ...string) string {
	w.t.Helper()
	return w.run(append([]string{"git", "checkpoint"}, args...)...)
}

// list is what the program says of all checkpoints of the session, safety checkpoints and
// discarded ones too.
func (w world) list() []listed {
	w.t.Helper()
	var all []listed
	for line := range strings.Lines(w.checkpoint("list", "--all", "--json")) {
		var one listed
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			w.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// open is the repository as go-git sees it.
func (w world) open() reader {
	w.t.Helper()
	repo, err := git.PlainOpen(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return reader{w.t, repo}
}

func (w world) write(path, content string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

// file is what a snapshot has to keep of a path.
type file struct {
	kind    string // "file", "executable" or "link"
	content string // of a link: where it leads
}

// files are those on the disk.
func (w world) files() map[string]file {
	w.t.Helper()
	found := map[string]file{}
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(name)], err = onDisk(path, entry)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func onDisk(path string, entry fs.DirEntry) (file, error) {
	if entry.Type() == fs.ModeSymlink {
		to, err := os.Readlink(path)
		return file{"link", to}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	info, err := entry.Info()
	if err != nil {
		return file{}, err
	}
	if info.Mode()&0o100 != 0 && runtime.GOOS != "windows" {
		return file{"executable", string(content)}, nil
	}
	return file{"file", string(content)}, nil
}
