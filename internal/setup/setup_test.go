package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
)

// open makes a repository and opens it.
func open(t *testing.T) *checkpoint.Service {
	t.Helper()
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	git := exec.Command("git", "init", "-q", "-b", "main", dir)
	git.Env = env
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: dir, Env: env, Now: func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
	return s
}

// A hook that somebody changed after init stays, and is named; a hook that is in the way of keeping
// the user's own is not overwritten.
func TestHooksOfOthers(t *testing.T) {
	s := open(t)
	var said []string
	s.Warn = func(line string) { said = append(said, line) }
	dir := filepath.Join(s.Repo.CommonDir, "hooks")
	write := func(hook, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, hook), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	read := func(hook string) string {
		text, _ := os.ReadFile(filepath.Join(dir, hook)) //nolint:errcheck // then it is empty
		return string(text)
	}
	write("pre-push", "mine\n")
	write("pre-push"+chainedEnding, "older\n")
	if _, err := Init(t.Context(), s, InitRequest{Hooks: true}); checkpoint.KindOf(err) != checkpoint.KindRefused {
		t.Errorf("in the way: %v", err)
	}
	if read("pre-push") != "mine\n" || read("pre-push"+chainedEnding) != "older\n" {
		t.Error("a hook of the user was overwritten")
	}
	if err := os.Remove(filepath.Join(dir, "pre-push"+chainedEnding)); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(t.Context(), s, InitRequest{Hooks: true}); err != nil {
		t.Fatal(err)
	}
	edited := read("pre-push") + "echo more\n"
	write("pre-push", edited)
	gone, err := Deinit(t.Context(), s, DeinitRequest{})
	if err != nil || !strings.Contains(strings.Join(gone, "\n"), "hook post-merge") {
		t.Errorf("%q %v", gone, err)
	}
	if read("pre-push") != edited || read("pre-push"+chainedEnding) != "mine\n" || read("post-merge") != "" {
		t.Error("the edited hook, or the one that it calls, is not as it was")
	}
	if len(said) != 1 || !strings.Contains(said[0], "pre-push") {
		t.Errorf("%q", said)
	}
}
