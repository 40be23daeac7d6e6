package git

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/format/name"
)

// HEAD follows git to a branch without a commit and to a commit without a branch. It stays as it was
// while git does not answer.
func TestRefresh(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "first")
	first := name.OID(f.Git("rev-parse", "HEAD"))
	r := f.open()
	is := func(what string, want Head) {
		t.Helper()
		if r.Checkout.Refresh(t.Context()); r.Head != want {
			t.Errorf("%s: HEAD is %+v", what, r.Head)
		}
	}
	is("on a branch", Head{OID: first, Branch: "refs/heads/main"})
	f.Git("checkout", "-q", "--detach")
	is("detached", Head{OID: first})
	f.Git("checkout", "-q", "--orphan", "other")
	is("unborn", Head{Branch: "refs/heads/other"})
	f.Git("checkout", "-q", "main")
	is("back", Head{OID: first, Branch: "refs/heads/main"})
	for _, fails := range []string{"rev-parse", "symbolic-ref"} {
		f.Write("../failing", "#!/bin/sh\ncase \" $* \" in *' "+fails+" '*) exit 128 ;; esac\nexec git \"$@\"\n")
		r.program = filepath.Join(f.Dir, "../failing")
		if err := os.Chmod(r.program, 0o700); err != nil {
			t.Fatal(err)
		}
		is(fails+" fails", Head{OID: first, Branch: "refs/heads/main"})
	}
}
