package snapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/git"
)

// configured opens the repository again with one more setting.
func configured(t *testing.T, repo *git.Repo, key, value string) *Worktree {
	t.Helper()
	env := append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	cmd := exec.Command("git", "-C", repo.WorkTree, "config", key, value)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	again, err := git.Open(t.Context(), git.Options{Dir: repo.WorkTree, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	shot, err := New(again)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shot.Close)
	return shot
}

// Where it cannot be told which file of attributes git reads, its content counts as one that
// converts files.
func TestAttributesOutside(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	repo := repository(t)
	put(t, filepath.Join(repo.WorkTree, "attributes"), "* text\n")
	put(t, filepath.Join(home, "of-home"), "* text\n")
	t.Chdir(t.TempDir())
	for value, want := range map[string]bool{
		"~root/attributes": true, "%(prefix)/attributes": true, "~/of-home": true, "attributes": true,
		filepath.Join(repo.WorkTree, "attributes"): true, "~/none": false, "none": false, "": false,
	} {
		shot := configured(t, repo, "core.attributesFile", value)
		if got := shot.capturer.convertsOutside(); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
