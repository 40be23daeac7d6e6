package refs

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/test/gittest"
)

// fixture is a repository and its refs.
type fixture struct{ *gittest.Repository }

func newFixture(t *testing.T, initArgs ...string) *fixture {
	t.Helper()
	return &fixture{gittest.New(t, initArgs...)}
}

// files returns the refs of the repository, with more variables of the environment.
func (f *fixture) files(env ...string) Files {
	f.Helper()
	env = append(f.Env[:len(f.Env):len(f.Env)], env...)
	cmd := exec.Command("git", "config", "-z", "--list")
	cmd.Dir, cmd.Env = f.Dir, env
	config, err := cmd.Output()
	if err != nil {
		f.Fatal(err)
	}
	digits := len(f.GitIn("", "hash-object", "--stdin"))
	whole := func(oid name.OID) bool {
		_, err := f.Try("", "cat-file", "-e", string(oid))
		return err == nil
	}
	return Files{Dir: filepath.Join(f.Dir, ".git"), Digits: digits, Config: gitconfig.ParseConfig(config), Env: env, Whole: whole}
}

// writesHere skips a test if git writes the refs, as it does outside Linux.
func (f *fixture) writesHere() {
	f.Helper()
	if !f.files().Writable("refs/heads/main") {
		f.Skip("refs are git's here")
	}
}

// commits is for Write: all objects of a test are commits, or none of them is asked for.
func commits([]name.OID) bool { return true }

// leftovers returns the proofs that are there.
func (f *fixture) leftovers() []string { return f.Proofs(TempPrefix) }

// nothingLeft fails the test if a proof or a lock is left.
func (f *fixture) nothingLeft() {
	f.Helper()
	if left := append(f.leftovers(), f.RefLocks()...); len(left) > 0 {
		f.Errorf("left are %v", left)
	}
}

// manyNew returns a transaction of n new refs and one journal.
func manyNew(oid name.OID, session string, n int) []Update {
	var out []Update
	for i := range n {
		out = append(out, Update{Ref: name.Ref(fmt.Sprintf("refs/checkpoints/%s/cp-%04d", session, i)), New: oid})
	}
	return append(out, Update{Ref: name.Ref("refs/checkpoints/" + session + "/journal"), New: oid})
}
