package travel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/test/verbtest"
)

// What is remembered of a remote is found again by any name, is bounded, and may be lost: a damaged
// file is an empty one.
func TestMemory(t *testing.T) {
	s := verbtest.Unborn(t, "repo").Open()
	for _, remote := range []string{"origin", "../a b/c", "https://example.com/" + strings.Repeat("long/", 100)} {
		m := memoryOf(s.Repo, remote)
		if m.LastSync != nil || m.Remote != remote {
			t.Errorf("%q begins as %+v", remote, m)
		}
		for i := range maxSettled + 2 {
			if err := m.synced(s.Store, fmt.Sprint("state ", i)); err != nil {
				t.Fatal(err)
			}
		}
		again := memoryOf(s.Repo, remote)
		if again.LastSync == nil || len(again.Settled) != maxSettled || again.settled("state 1") || !again.settled("state 9") {
			t.Errorf("%q: %+v", remote, again)
		}
		if last := LastSync(s.Repo); last == nil {
			t.Errorf("%q: no last synchronisation", remote)
		}
		if err := os.WriteFile(filepath.Join(s.Repo.GitDir, "checkpoint", again.file), []byte("{\"settled\":[\"state 9\"],"), 0o666); err != nil {
			t.Fatal(err)
		}
		if lost := memoryOf(s.Repo, remote); lost.settled("state 9") || lost.Remote != remote {
			t.Errorf("%q: damaged: %+v", remote, lost)
		} else if err := lost.synced(s.Store, ""); err != nil {
			t.Error(err)
		}
	}
}
