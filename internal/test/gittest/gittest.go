// Package gittest gives a test a repository of its own: a real one, made by git, with a fixed
// identity and nothing of the machine's configuration. It is for the packages that read and write
// git's files; a test of a verb has package verbtest. Only tests import this package.
package gittest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
)

// Repository is a repository with plain git. A method without an error ends the test if it does not
// work. Paths are relative to Dir, unless they are absolute.
type Repository struct {
	testing.TB
	Dir string   // its worktree; a path without symbolic links
	Env []string // the environment of git
}

// Formats returns the object formats that everything has to work with.
func Formats() []string { return []string{"sha1", "sha256"} }

// New makes a repository without a commit. arguments are further ones of git init.
func New(t testing.TB, arguments ...string) *Repository {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir()) // git resolves links, so paths can be compared
	if err != nil {
		t.Fatal(err)
	}
	r := &Repository{TB: t, Dir: filepath.Join(root, "work"), Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}}
	for _, dir := range []string{r.Dir, filepath.Join(root, "home")} {
		if err := os.Mkdir(dir, 0o777); err != nil { //nolint:gosec // as git makes it
			t.Fatal(err)
		}
	}
	r.Git(append([]string{"init", "-q", "-b", "main"}, arguments...)...)
	return r
}

// Git runs git and returns its output without the last newline.
func (r *Repository) Git(args ...string) string {
	r.Helper()
	return r.GitIn("", args...)
}

// GitIn is Git with an input.
func (r *Repository) GitIn(input string, args ...string) string {
	r.Helper()
	out, err := r.Try(input, args...)
	if err != nil {
		r.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

// Try runs git, which may fail, and returns its output as it is.
func (r *Repository) Try(input string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, strings.NewReader(input)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), err
}

// Blob writes a blob.
func (r *Repository) Blob(content string) name.OID {
	r.Helper()
	return name.OID(r.GitIn(content, "hash-object", "-w", "--stdin"))
}

// Commit makes a commit of what is staged, if anything is.
func (r *Repository) Commit(message string) name.OID {
	r.Helper()
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return name.OID(r.Git("rev-parse", "HEAD"))
}

// Write writes a file; its directory is made.
func (r *Repository) Write(path, content string) {
	r.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		r.Fatal(err)
	}
}

// Loose is the path of the file of a loose object.
func (r *Repository) Loose(oid name.OID) string {
	return filepath.Join(r.Dir, ".git", "objects", string(oid[:2]), string(oid[2:]))
}

// LooseRefs returns the files of loose refs and their content.
func (r *Repository) LooseRefs() string {
	r.Helper()
	var out strings.Builder
	top := filepath.Join(r.Dir, ".git", "refs")
	err := filepath.Walk(top, func(path string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %s %q\n", strings.TrimPrefix(path, top), info.Mode(), data)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return out.String()
}

// RefLocks returns the locks of refs that are there.
func (r *Repository) RefLocks() []string {
	r.Helper()
	var out []string
	for line := range strings.Lines(r.LooseRefs()) {
		if path, _, _ := strings.Cut(line, " "); strings.HasSuffix(path, ".lock") {
			out = append(out, path)
		}
	}
	return out
}

// RemoveRefs removes the files of all refs but branches, and packed-refs.
func (r *Repository) RemoveRefs() {
	r.Helper()
	for _, what := range []string{"refs/checkpoints", "refs/notes", "refs/tags", "packed-refs"} {
		if err := os.RemoveAll(filepath.Join(r.Dir, ".git", filepath.FromSlash(what))); err != nil {
			r.Fatal(err)
		}
	}
}

// Refs returns names of refs some of which are in each other's way.
func Refs() []name.Ref {
	return []name.Ref{
		"refs/checkpoints/s/a", "refs/checkpoints/s/b", "refs/checkpoints/s/journal", "refs/checkpoints/s", "refs/checkpoints/s/a/c",
		"refs/checkpoints/t/a", "refs/tags/checkpoint/s/step-1", "refs/tags/checkpoint/s", "refs/notes/checkpoints", "refs/checkpoints/s/b-1",
	}
}

// Proofs returns the files in .git/checkpoint whose names have a beginning.
func (r *Repository) Proofs(beginning string) []string {
	r.Helper()
	found, err := filepath.Glob(filepath.Join(r.Dir, ".git", "checkpoint", beginning+"*"))
	if err != nil {
		r.Fatal(err)
	}
	return found
}
