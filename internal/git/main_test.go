package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/name"
)

// formats are the object formats that everything here has to work with.
var formats = []string{"sha1", "sha256"}

// fixture is a real repository and the plain git that made it.
type fixture struct {
	t   *testing.T
	dir string
	env []string
}

func newFixture(t *testing.T, initArgs ...string) *fixture {
	t.Helper()
	root := t.TempDir()
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: filepath.Join(root, "work"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}}
	for _, dir := range []string{f.dir, filepath.Join(root, "home")} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	f.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	return f
}

// git runs plain git and gives its output without the last newline.
func (f *fixture) git(args ...string) string {
	f.t.Helper()
	return f.gitIn("", args...)
}

func (f *fixture) gitIn(stdin string, args ...string) string {
	f.t.Helper()
	out, err := f.try(stdin, args...)
	if err != nil {
		f.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func (f *fixture) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = f.dir, f.env, strings.NewReader(stdin)
	out, err := cmd.Output()
	return string(out), err
}

func (f *fixture) write(path, content string) {
	f.t.Helper()
	full := filepath.Join(f.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) open(env ...string) *Repo {
	f.t.Helper()
	r, err := Open(context.Background(), Options{Dir: f.dir, Env: append(f.env[:len(f.env):len(f.env)], env...)})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { r.Close() })
	return r
}

func (f *fixture) blob(content string) name.OID {
	f.t.Helper()
	return name.OID(f.gitIn(content, "hash-object", "-w", "--stdin"))
}

func (f *fixture) loosePath(oid name.OID) string {
	return filepath.Join(f.dir, ".git", "objects", string(oid[:2]), string(oid[2:]))
}

// rewrite replaces a loose object's file.
func (f *fixture) rewrite(oid name.OID, content string) {
	f.t.Helper()
	path := f.loosePath(oid)
	if err := os.Remove(path); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o444); err != nil {
		f.t.Fatal(err)
	}
}

func ctx(t *testing.T) context.Context {
	t.Helper()
	return t.Context()
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
