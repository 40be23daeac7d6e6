package independent

import (
	"path/filepath"
	"testing"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// refspecs name what a clone needs of a repository's checkpoints.
var refspecs = []config.RefSpec{"+refs/checkpoints/*:refs/checkpoints/*", "+refs/notes/checkpoints:refs/notes/checkpoints"}

// What go-git clones and fetches the program reads, and finds whole; what go-git pushes
// from there comes back, and two journals that grew apart are one for both.
func TestTravel(t *testing.T) {
	j := newJob(t)
	j.work(func() {})
	bare := filepath.Join(t.TempDir(), "bare.git")
	j.run("git", "clone", "-q", "--bare", j.dir, bare)
	j.run("git", "remote", "add", "origin", bare)
	j.checkpoint("push", "-y")

	other := newWorld(t)
	other.run("git", "remote", "add", "origin", bare)
	away := other.open()
	away.must(away.repo.Fetch(&git.FetchOptions{RefSpecs: append(refspecs, "+refs/heads/*:refs/remotes/origin/*")}))
	other.run("git", "reset", "-q", "--hard", "origin/main")
	same := func() {
		t.Helper()
		// Each stands on what it made last.
		if diff := cmp.Diff(j.list(), other.list(), cmpopts.IgnoreFields(listed{}, "Current")); diff != "" {
			t.Errorf("lists (-here +away):\n%s", diff)
		}
	}
	same()
	other.checkpoint("validate", "--all", "--deep")

	other.write("away", "away\n")
	other.checkpoint("create", "--session", session, "--name", "away", "--no-tag") // a plain fetch moves no tags
	away = other.open()
	away.must(away.repo.Push(&git.PushOptions{RefSpecs: refspecs}))
	j.write("here", "here\n")
	j.save("--name", "here")
	j.checkpoint("fetch")
	if diff := cmp.Diff(j.list(), j.open().list()); diff != "" {
		t.Errorf("lists after a merge (-program +go-git):\n%s", diff)
	}
	j.checkpoint("push", "-y")
	away = other.open()
	away.must(away.repo.Fetch(&git.FetchOptions{RefSpecs: refspecs}))
	same()
	other.checkpoint("validate", "--all")
	if n := len(j.list()); n < 7 {
		t.Errorf("only %d checkpoints were compared", n)
	}
}
