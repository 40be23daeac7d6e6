package retain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/name"
)

const demo = name.Session("demo")

// world is a repository with one commit, in which checkpoints are made and removed.
type world struct {
	t    *testing.T
	dir  string
	env  []string
	tick int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(root, "work"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}}
	if err := os.Mkdir(w.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	w.git("commit", "-q", "--allow-empty", "-m", "first")
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

// open returns the service as another run of the program would have it.
func (w *world) open() *checkpoint.Service {
	w.t.Helper()
	s, err := checkpoint.Open(w.t.Context(), checkpoint.Options{Dir: w.dir, Env: w.env, Now: func() time.Time {
		w.tick++
		return time.Date(2026, 11, 20, 9, 0, w.tick, 0, time.UTC)
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// create makes the milestone of the next step, with a file of its own content.
func (w *world) create(session name.Session) name.ID {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "file"), []byte(strconv.Itoa(w.tick)+"\n"), 0o666); err != nil {
		w.t.Fatal(err)
	}
	made, err := create.Checkpoint(w.t.Context(), w.open(), create.Request{Session: string(session)})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.Record.ID
}

// refs lists the refs below a prefix, without the prefix.
func (w *world) refs(prefix string) []string {
	w.t.Helper()
	var all []string
	for _, ref := range strings.Fields(w.git("for-each-ref", "--format=%(refname)", prefix)) {
		all = append(all, strings.TrimPrefix(ref, prefix))
	}
	return all
}

// live returns the ids of the session's checkpoints that have refs.
func (w *world) live(session name.Session) []name.ID {
	w.t.Helper()
	var all []name.ID
	for _, leaf := range w.refs(name.CheckpointRoot + string(session) + "/") {
		if id, err := name.ParseID(leaf); err == nil {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

func ids(labelled []checkpoint.Labelled) (all []name.ID) {
	for _, l := range labelled {
		all = append(all, l.ID)
	}
	return all
}
