package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

func TestOpen(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			r := f.open()
			if r.Head.OID != "" || r.Head.Branch != "refs/heads/main" {
				t.Errorf("unborn: %+v", r.Head)
			}
			if r.Format != format || r.WorkTree != f.Dir || r.GitDir != filepath.Join(f.Dir, ".git") || r.Prefix != "" {
				t.Errorf("%+v", r)
			}
			f.Write("sub/file", "x")
			f.Git("add", ".")
			f.Git("commit", "-qm", "one")
			head := name.OID(f.Git("rev-parse", "HEAD"))
			if r = f.open(); r.Head.OID != head || r.Head.Branch != "refs/heads/main" {
				t.Errorf("on a branch: %+v", r.Head)
			}
			f.Git("update-ref", "refs/heads/HEAD", "main") // makes the name ambiguous
			if r = f.open(); r.Head.OID != head || r.Head.Branch != "refs/heads/main" {
				t.Errorf("with a branch called HEAD: %+v", r.Head)
			}
			f.Git("update-ref", "-d", "refs/heads/HEAD")
			f.Git("checkout", "-q", "--detach")
			if r = f.open(); r.Head.OID != head || r.Head.Branch != "" {
				t.Errorf("detached: %+v", r.Head)
			}
		})
	}
}

func TestOpenPlaces(t *testing.T) {
	f := newFixture(t)
	f.Write("sub/file", "x")
	f.Git("add", ".")
	f.Git("commit", "-qm", "one")
	f.Git("worktree", "add", "-q", "../linked")
	f.Dir = filepath.Join(filepath.Dir(f.Dir), "linked", "sub")
	r := f.open()
	if r.Prefix != "sub/" || r.WorkTree != filepath.Dir(f.Dir) || r.GitDir == r.CommonDir || filepath.Base(r.GitDir) != "linked" {
		t.Errorf("linked worktree: %+v", r)
	}
	if r.IndexPath != filepath.Join(r.GitDir, "index") {
		t.Errorf("index: %q", r.IndexPath)
	}
	if r = f.open("GIT_INDEX_FILE=/some/index"); r.IndexPath != "/some/index" {
		t.Errorf("inherited index: %q", r.IndexPath)
	}
}

func TestOpenRefuses(t *testing.T) {
	f := newFixture(t)
	f.Git("init", "-q", "--bare", "../bare.git")
	for _, dir := range []string{filepath.Dir(f.Dir), filepath.Join(filepath.Dir(f.Dir), "bare.git"), filepath.Join(f.Dir, ".git")} {
		_, err := Open(ctx(t), Options{Dir: dir, Env: append(f.Env, "GIT_CEILING_DIRECTORIES=/")})
		if !errors.Is(err, ErrUnusable) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	odd := filepath.Join(filepath.Dir(f.Dir), "new\nline")
	if err := os.Mkdir(odd, 0o777); err != nil {
		t.Fatal(err)
	}
	f.Dir = odd
	f.Git("init", "-q")
	if _, err := Open(ctx(t), Options{Dir: odd, Env: f.Env}); !errors.Is(err, ErrUnusable) {
		t.Errorf("newline, unborn: %v", err)
	}
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	if _, err := Open(ctx(t), Options{Dir: odd, Env: f.Env}); !errors.Is(err, ErrUnusable) {
		t.Errorf("newline: %v", err)
	}
}

// Config is the configuration of the user, without what is set for our own processes.
func TestConfigIsTheUsers(t *testing.T) {
	f := newFixture(t)
	f.Git("config", "core.hooksPath", "my-hooks")
	f.Git("config", "gc.auto", "7")
	r := f.open("GIT_CONFIG_PARAMETERS='checkpoint.tag=false'")
	for key, want := range map[string]string{"core.hookspath": "my-hooks", "gc.auto": "7", "checkpoint.tag": "false"} {
		if got, _ := r.Config.Get(key); got != want {
			t.Errorf("%s = %q, not %q", key, got, want)
		}
	}
}

func TestCleanEnv(t *testing.T) {
	in := []string{
		"PATH=/bin", "GIT_DIR=/x", "GIT_INDEX_FILE=i", "GIT_TRACE2_EVENT=1", "GIT_TRACE=2", "GIT_LITERAL_PATHSPECS=1",
		"GIT_AUTHOR_DATE=1", "GIT_AUTHOR_NAME=Ann", "GIT_SSH_COMMAND=ssh -v", "GIT_CONFIG_PARAMETERS='a.b=c'", "LC_ALL=de_DE", "GIT_PREFIX=sub/",
		"GIT_OPTIONAL_LOCKS=1", "GIT_NO_REPLACE_OBJECTS=",
	}
	want := append([]string{"PATH=/bin", "GIT_AUTHOR_NAME=Ann", "GIT_SSH_COMMAND=ssh -v", "GIT_CONFIG_PARAMETERS='a.b=c'"}, fixed...)
	if got := cleanEnv(in); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Our processes run no hooks, and they get the `-c` settings and the environment of one command.
func TestRun(t *testing.T) {
	f := newFixture(t)
	f.Write("x", "x")
	f.Git("add", "x")
	f.Git("commit", "-qm", "x")
	marker := filepath.Join(f.Dir, "hook-ran")
	f.Write(".git/hooks/reference-transaction", "#!/bin/sh\ntouch '"+marker+"'\n")
	if err := os.Chmod(filepath.Join(f.Dir, ".git/hooks/reference-transaction"), 0o777); err != nil {
		t.Fatal(err)
	}
	r := f.open("GIT_TRACE=1")
	if err := r.Refs.Update(ctx(t), []Update{{Ref: "refs/x/y", New: r.Head.OID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a hook ran")
	}
	res, err := r.Run(ctx(t), Cmd{Args: []string{"config", "my.key"}, Config: []string{"my.key=v"}, Env: []string{"X=y"}})
	if err != nil || string(res.Stdout) != "v\n" || len(res.Stderr) > 0 {
		t.Errorf("%q %v", res, err)
	}
	_, err = r.Run(ctx(t), Cmd{Args: []string{"rev-parse", "--verify", "nothing"}})
	if ExitCode(err) != 128 || !strings.Contains(err.Error(), "git rev-parse: fatal: ") {
		t.Errorf("%v", err)
	}
}

// Hooks from the configuration do not run either. A git that does not know them would not run them
// anyway, so the test also looks at the settings that each process gets.
func TestRunWithoutConfiguredHooks(t *testing.T) {
	f := newFixture(t)
	f.Write("x", "x")
	f.Git("add", "x")
	f.Git("commit", "-qm", "x")
	marker := filepath.Join(f.Dir, "hook-ran")
	for _, event := range []string{"reference-transaction", "post-index-change"} {
		f.Git("config", "--add", "hook.My.Hook.event", event)
	}
	f.Git("config", "hook.My.Hook.command", "touch '"+marker+"'; false")
	r := f.open()
	if args := r.command(ctx(t), Cmd{Args: []string{"x"}}).Args; !slices.Contains(args, "hook.My.Hook.event=") {
		t.Errorf("git is not told: %q", args)
	}
	// A hook that is configured when the repository was open already can be switched off
	// by its event alone, which git 2.54 does not do.
	version, err := r.Version(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	if !Older(version, "2.55") {
		f.Git("config", "hook.late.event", "reference-transaction")
		f.Git("config", "hook.late.command", "touch '"+marker+"'; false")
	}
	if _, err := os.Lstat(marker); err == nil {
		os.Remove(marker) //nolint:errcheck // the next look says it
	}
	for _, args := range [][]string{{"update-ref", "refs/x/y", string(r.Head.OID)}, {"read-tree", "HEAD"}} {
		if _, err := r.Run(ctx(t), Cmd{Args: args}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a hook ran")
	}
}

// A child of a killed git that keeps its pipe open does not make us wait.
func TestRunEndsWithItsContext(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("no sleep")
	}
	f := newFixture(t)
	r := f.open()
	c, cancel := context.WithTimeout(ctx(t), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := r.Run(c, Cmd{Args: []string{"-c", "alias.wait=!sleep 60", "wait"}})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

// A linked worktree is found by a path as newer versions of git write it, relative to its own directory, too.
func TestLinked(t *testing.T) {
	top := t.TempDir()
	l := &Location{CommonDir: filepath.Join(top, ".git")}
	for leaf, at := range map[string]string{"a": filepath.Join(top, "x y", ".git"), "b": "../../../z/.git"} {
		admin := filepath.Join(l.CommonDir, "worktrees", leaf)
		if err := errors.Join(os.MkdirAll(admin, 0o777), os.WriteFile(filepath.Join(admin, "gitdir"), []byte(at+"\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	for _, w := range l.Linked() {
		dirs = append(dirs, filepath.Base(w.Admin)+" "+w.Dir)
	}
	if want := []string{"a " + filepath.Join(top, "x y"), "b " + filepath.Join(top, "z")}; !slices.Equal(dirs, want) {
		t.Errorf("%q, not %q", dirs, want)
	}
}
