package git

import (
	"context"
	"os"
	"path/filepath"

	"git-checkpoint/internal/format/name"
)

// Refresh reads HEAD again, because another program may have moved it. If git does not answer, the
// old values stay: half an answer would read as an unborn branch or a detached HEAD. If the
// directory in which the command was started is gone, Prefix becomes the top of the worktree. A
// cancelled context does not stop it.
func (r *Repo) Refresh(ctx context.Context) {
	if head := r.HeadNow(ctx); head != (Head{}) {
		r.Head = head
	}
	if _, err := os.Stat(filepath.Join(r.WorkTree, r.Prefix)); err != nil {
		r.Prefix = "" // the directory is gone
	}
}

// HeadNow reads where HEAD is, while the member Head says where it was. It returns a zero Head if
// git does not answer. A cancelled context does not stop it: what goes back after an interrupt needs
// to know.
func (r *Repo) HeadNow(ctx context.Context) Head {
	ctx = context.WithoutCancel(ctx)
	fresh := &Repo{GitDir: r.GitDir, WorkTree: r.WorkTree, program: r.program, env: r.env}
	// With -q, both say with the exit code 1 that there is no commit, or no branch.
	ask := func(args ...string) (string, bool) {
		out, err := fresh.Output(ctx, args...)
		return out, err == nil || ExitCode(err) == 1
	}
	oid, answered := ask("rev-parse", "--verify", "-q", "HEAD")
	branch, too := ask("symbolic-ref", "-q", "HEAD")
	if !answered || !too {
		return Head{}
	}
	return Head{OID: name.OID(oid), Branch: name.Ref(branch)}
}
