package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
)

// A hook that somebody changed after init stays, and is named; a hook that is in the way of keeping
// the user's own is not overwritten.
func TestHooksOfOthers(t *testing.T) {
	s := verbtest.Unborn(t, "repo").Open()
	var said []string
	s.Store.Warn = func(line string) { said = append(said, line) }
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
	if _, err := Init(t.Context(), s.Rules, InitRequest{Hooks: true}); checkpoint.KindOf(err) != checkpoint.KindRefused {
		t.Errorf("in the way: %v", err)
	}
	if read("pre-push") != "mine\n" || read("pre-push"+chainedEnding) != "older\n" {
		t.Error("a hook of the user was overwritten")
	}
	if err := os.Remove(filepath.Join(dir, "pre-push"+chainedEnding)); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(t.Context(), s.Rules, InitRequest{Hooks: true}); err != nil {
		t.Fatal(err)
	}
	edited := read("pre-push") + "echo more\n"
	write("pre-push", edited)
	gone, err := Deinit(t.Context(), s.Rules, false)
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
