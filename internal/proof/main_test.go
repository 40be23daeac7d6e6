package proof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
)

const demo = name.Session("demo")

// world is a repository with one commit, in which checkpoints are made and damaged.
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

// create makes the milestone of a step and returns its id and commit. Each has another content.
func (w *world) create(step int) (name.ID, name.OID) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "file"), []byte(strconv.Itoa(w.tick)+"\n"), 0o666); err != nil {
		w.t.Fatal(err)
	}
	made, err := create.Checkpoint(w.t.Context(), w.open(), create.Request{Session: string(demo), Step: &step})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.Record.ID, name.OID(w.git("rev-parse", string(name.CheckpointRef(demo, made.Record.ID))))
}

// session proves the journal as it is now.
func (w *world) session() *proof.Session {
	w.t.Helper()
	s := w.open()
	view, err := proof.LookAt(w.t.Context(), s.Store, demo)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := view.Open(w.t.Context(), demo)
	if err == nil {
		err = p.JudgeLost(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// judge proves every checkpoint and returns the verdicts in the order of the journal.
func (w *world) judge() []proof.Verdict {
	w.t.Helper()
	var all []proof.Verdict
	p := w.session()
	err := p.Judge(w.t.Context(), p.Subjects(), nil, func(v proof.Verdict) error {
		all = append(all, v)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// lose removes a loose object.
func (w *world) lose(oid name.OID) {
	w.t.Helper()
	if err := os.Remove(w.object(oid)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) object(oid name.OID) string {
	return filepath.Join(w.dir, ".git", "objects", string(oid[:2]), string(oid[2:]))
}

// kinds returns the kinds of a verdict's findings, in order.
func kinds(findings []proof.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, string(f.Kind))
	}
	return strings.Join(all, " ")
}
