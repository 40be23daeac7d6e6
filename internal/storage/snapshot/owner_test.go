package snapshot

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"git-checkpoint/internal/storage/worktree"
)

// A note stands for a process only while that process runs, not for another one that has its
// number.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	other := exec.CommandContext(t.Context(), "sleep", "60")
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	defer other.Wait()         //nolint:errcheck // it was killed
	defer other.Process.Kill() //nolint:errcheck // it may be over
	pid := other.Process.Pid
	for note, want := range map[string]int{
		fmt.Sprintln(pid, bornAt(pid)): pid,
		fmt.Sprintln(pid):              pid, // as earlier versions wrote it
		ProcessNote():                  0,
		"":                             0, "x": 0, "-1": 0, "0": 0,
	} {
		if err := os.WriteFile(ownerPath(dir), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := owner(dir); got != want {
			t.Errorf("%q: %d", note, got)
		}
	}
	if bornAt(pid) == "" {
		t.Skip("nobody knows here when a process began")
	}
	if err := os.WriteFile(ownerPath(dir), fmt.Appendln(nil, pid, "1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := owner(dir); got != 0 {
		t.Errorf("a process that began later is taken for %d", got)
	}
}

// Only names exactly like those that this program makes count as staging directories.
func TestStagingNames(t *testing.T) {
	for name, want := range map[string]bool{
		worktree.StagingPrefix + worktree.RandomHex(): true, worktree.StagingPrefix: false, worktree.StagingPrefix + "notes": false, worktree.StagingPrefix + "0123456789ag": false, "x" + worktree.StagingPrefix + worktree.RandomHex(): false,
	} {
		if worktree.IsStaging(name) != want || worktree.InStaging("a/"+name+"/b") != want {
			t.Errorf("%q", name)
		}
	}
}
