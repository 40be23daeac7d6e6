package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/name"
)

// Refresh reads HEAD again, because another program may have moved it. If HEAD can be read neither
// as a commit nor as a branch, the old values stay. If the directory in which the command was
// started is gone, Prefix becomes the top of the worktree.
func (r *Repo) Refresh() {
	if head := r.HeadNow(); head != (Head{}) {
		r.Head = head
	}
	if _, err := os.Stat(filepath.Join(r.WorkTree, r.Prefix)); err != nil {
		r.Prefix = "" // the directory is gone
	}
}

// HeadNow reads where HEAD is, while the member Head says where it was. It returns a zero Head if
// HEAD can be read neither as a commit nor as a branch.
func (r *Repo) HeadNow() Head {
	fresh := &Repo{GitDir: r.GitDir, WorkTree: r.WorkTree, program: r.program, env: r.env}
	res, err := fresh.Run(context.Background(), Cmd{Args: []string{"rev-parse", "--verify", "-q", "HEAD"}})
	head := Head{}
	if err == nil {
		head.OID = name.OID(strings.TrimSpace(string(res.Stdout)))
	}
	if res, err = fresh.Run(context.Background(), Cmd{Args: []string{"symbolic-ref", "-q", "HEAD"}}); err == nil {
		head.Branch = name.Ref(strings.TrimSpace(string(res.Stdout)))
	}
	return head
}
