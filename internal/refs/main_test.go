package refs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/gitconfig"
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

// files returns the refs of the repository, with more variables of the environment.
func (f *fixture) files(env ...string) Files {
	f.t.Helper()
	env = append(f.env[:len(f.env):len(f.env)], env...)
	cmd := exec.Command("git", "config", "-z", "--list")
	cmd.Dir, cmd.Env = f.dir, env
	config, err := cmd.Output()
	if err != nil {
		f.t.Fatal(err)
	}
	digits := len(f.gitIn("", "hash-object", "--stdin"))
	whole := func(oid name.OID) bool {
		_, err := f.try("", "cat-file", "-e", string(oid))
		return err == nil
	}
	return Files{Dir: filepath.Join(f.dir, ".git"), Digits: digits, Config: gitconfig.ParseConfig(config), Env: env, Whole: whole}
}

// writesHere skips a test if git writes the refs, as it does outside Linux.
func (f *fixture) writesHere() {
	f.t.Helper()
	if !f.files().Writable("refs/heads/main") {
		f.t.Skip("refs are git's here")
	}
}

// commits is for Write: all objects of a test are commits, or none of them is asked for.
func commits([]name.OID) bool { return true }

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

func (f *fixture) blob(content string) name.OID {
	f.t.Helper()
	return name.OID(f.gitIn(content, "hash-object", "-w", "--stdin"))
}

func (f *fixture) commit(message string) name.OID {
	f.t.Helper()
	f.git("commit", "-q", "--allow-empty", "-m", message)
	return name.OID(f.git("rev-parse", "HEAD"))
}

// loose returns the files of loose refs and their content.
func (f *fixture) loose() string {
	var out strings.Builder
	top := filepath.Join(f.dir, ".git", "refs")
	err := filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %s %q\n", strings.TrimPrefix(path, top), info.Mode(), data)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out.String()
}

func (f *fixture) withoutRefs() {
	for _, what := range []string{"refs/checkpoints", "refs/notes", "refs/tags", "packed-refs"} {
		if err := os.RemoveAll(filepath.Join(f.dir, ".git", filepath.FromSlash(what))); err != nil {
			f.t.Fatal(err)
		}
	}
}

// leftovers returns the proofs that are there.
func (f *fixture) leftovers() []string {
	proofs, err := filepath.Glob(filepath.Join(f.dir, ".git", "checkpoint", TempPrefix+"*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return proofs
}

// locks returns the locks of refs that are there.
func (f *fixture) locks() []string {
	var out []string
	for line := range strings.Lines(f.loose()) {
		if path, _, _ := strings.Cut(line, " "); strings.HasSuffix(path, ".lock") {
			out = append(out, path)
		}
	}
	return out
}

// nothingLeft fails the test if a proof or a lock is left.
func (f *fixture) nothingLeft() {
	f.t.Helper()
	if left := append(f.leftovers(), f.locks()...); len(left) > 0 {
		f.t.Errorf("left are %v", left)
	}
}

// refsOfWriting returns names some of which are in each other's way.
func refsOfWriting() []name.Ref {
	return []name.Ref{
		"refs/checkpoints/s/a", "refs/checkpoints/s/b", "refs/checkpoints/s/journal", "refs/checkpoints/s", "refs/checkpoints/s/a/c",
		"refs/checkpoints/t/a", "refs/tags/checkpoint/s/step-1", "refs/tags/checkpoint/s", "refs/notes/checkpoints", "refs/checkpoints/s/b-1",
	}
}

// manyNew returns a transaction of n new refs and one journal.
func manyNew(oid name.OID, session string, n int) []Update {
	var out []Update
	for i := range n {
		out = append(out, Update{Ref: name.Ref(fmt.Sprintf("refs/checkpoints/%s/cp-%04d", session, i)), New: oid})
	}
	return append(out, Update{Ref: name.Ref("refs/checkpoints/" + session + "/journal"), New: oid})
}
