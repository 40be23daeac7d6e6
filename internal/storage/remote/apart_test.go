package remote

import (
	"strings"
	"testing"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
)

// While it pushes, git sees only the refs that it is to send, and the configuration and the objects of the repository.
func TestApart(t *testing.T) {
	for _, format := range gittest.Formats() {
		w := gittest.New(t, "--object-format="+format)
		oid := w.Commit("one")
		w.Git("tag", "mine")
		w.Git("config", "extensions.worktreeConfig", "true")
		w.Git("config", "--worktree", "remote.origin.url", "there")
		repo, err := git.Open(t.Context(), git.Options{Dir: w.Dir, Env: w.Env})
		if err != nil {
			t.Fatal(err)
		}
		const ref = "refs/checkpoint-incoming/1-1-out/main/x"
		_, env, err := (&Remote{Repo: repo}).separateDir(t.Context(), "create "+ref+" "+string(oid)+"\n")
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, args := range [][]string{{"for-each-ref", "--format=%(refname) %(contents:subject)"}, {"config", "remote.origin.url"}} {
			res, err := repo.Run(t.Context(), git.Cmd{Args: args, Env: env})
			all.Write(res.Stdout)
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := ref + " one\nthere\n"; all.String() != want || strings.Contains(w.Git("for-each-ref"), ref) {
			t.Errorf("%s: git sees %q, not %q", format, all.String(), want)
		}
	}
}
