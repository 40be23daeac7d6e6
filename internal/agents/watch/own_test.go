package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/internal/git"
)

// TestOwnDirectory checks that what git and this program write into a git directory inside of the
// worktree is no event, whatever its name, and that the directories around it are watched.
func TestOwnDirectory(t *testing.T) {
	w, s := start(t, time.Hour)
	own := filepath.Join(w.Top, "sub", "data")
	if err := os.Mkdir(filepath.Dir(own), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", "--separate-git-dir", own, w.Top).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	repo, err := git.Open(t.Context(), git.Options{Dir: w.Top})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	w.Own = repo.OwnDirs()
	run(t, w)
	<-s.made // at the start
	if err := os.WriteFile(filepath.Join(w.Top, "sub", "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	<-s.made // the directories are watched now
	for dir := range w.watched {
		if dir == "sub/data" || filepath.Dir(dir) == "sub/data" {
			t.Errorf("%s is watched", dir)
		}
	}
}
