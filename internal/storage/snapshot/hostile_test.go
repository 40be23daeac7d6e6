package snapshot

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// repository creates a repository with one commit and opens it.
func repository(t *testing.T) *git.Repo {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "one"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, err := git.Open(context.Background(), git.Options{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return repo
}

// rawTree writes a tree with one file at any path, as an attacker could forge it.
func rawTree(t *testing.T, repo *git.Repo, mode git.Mode, path string) name.OID {
	t.Helper()
	ctx := context.Background()
	oid, err := repo.Objects.Write(ctx, "blob", []byte("evil"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if oid, err = repo.Trees.Write(ctx, []git.Entry{{Mode: mode, Name: parts[i], OID: oid}}); err != nil {
			t.Fatal(err)
		}
		mode = git.ModeTree
	}
	return oid
}

// A tree with a path that leads into .git, however it is spelled, or out of the worktree is
// refused before anything is written.
func TestHostileTrees(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	ctx := context.Background()
	cur, err := shot.Take(ctx, Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		".git/hooks/evil", ".GIT/config", "git~1/config", ".git /x", ".git./x", ".git::$INDEX_ALLOCATION/x", "a/.git/x", "a/../../x", "..", ".g\u200cit/x", "a/./b",
	} {
		_, err := shot.Plan(ctx, cur, Target{Tree: rawTree(t, repo, git.ModeFile, path)}, Scope{})
		var hostile *HostileError
		if !errors.As(err, &hostile) && !errors.Is(err, git.ErrUnreadable) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, path := range []string{".gitfoo", "git~2", ".github/x", "x.git/y", "a..b"} {
		if _, err := shot.Plan(ctx, cur, Target{Tree: rawTree(t, repo, git.ModeFile, path)}, Scope{}); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, path := range []string{strings.Repeat("n", 256) + "/x", strings.Repeat("d/", 3000) + "x"} {
		if p, err := shot.Plan(ctx, cur, Target{Tree: rawTree(t, repo, git.ModeFile, path)}, Scope{}); err != nil || len(p.Ops) > 0 || len(p.Kept) != 1 {
			t.Errorf("%.300q, which git writes to no disk: %v, %d operations", path, err, len(p.Ops))
		}
	}
	if _, err := shot.Plan(ctx, cur, Target{Tree: rawTree(t, repo, git.ModeSymlink, ".gitmodules")}, Scope{}); err == nil {
		t.Error("a symbolic link called .gitmodules was planned")
	}
}
