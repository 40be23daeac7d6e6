package travel

import (
	"fmt"
	"os"
	"os/exec"
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

// What is remembered of a remote is found again by any name, is bounded, and may be lost: a damaged
// file is an empty one.
func TestMemory(t *testing.T) {
	s := open(t)
	for _, remote := range []string{"origin", "../a b/c", "https://example.com/" + strings.Repeat("long/", 100)} {
		m := memoryOf(s, remote)
		if m.LastSync != nil || m.Remote != remote {
			t.Errorf("%q begins as %+v", remote, m)
		}
		for i := range maxSettled + 2 {
			if err := m.synced(s, fmt.Sprint("state ", i)); err != nil {
				t.Fatal(err)
			}
		}
		again := memoryOf(s, remote)
		if again.LastSync == nil || len(again.Settled) != maxSettled || again.settled("state 1") || !again.settled("state 9") {
			t.Errorf("%q: %+v", remote, again)
		}
		if last := LastSync(s); last == nil {
			t.Errorf("%q: no last synchronisation", remote)
		}
		if err := os.WriteFile(again.path, []byte("{\"settled\":[\"state 9\"],"), 0o666); err != nil {
			t.Fatal(err)
		}
		if lost := memoryOf(s, remote); lost.settled("state 9") || lost.Remote != remote {
			t.Errorf("%q: damaged: %+v", remote, lost)
		} else if err := lost.synced(s, ""); err != nil {
			t.Error(err)
		}
	}
}
