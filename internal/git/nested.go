package git

import (
	"context"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
)

// HeadOf returns the commit at HEAD of another repository, whose worktree is dir. It is empty when
// HEAD has no commit or dir is not the top of a worktree. No hooks and file watchers of that
// repository are started.
func (l *Location) HeadOf(ctx context.Context, dir string) (name.OID, error) {
	other := &Location{program: l.program, env: l.env, WorkTree: dir}
	res, err := other.Run(ctx, Cmd{Args: []string{"rev-parse", "--verify", "-q", "--show-toplevel", "HEAD"}, Dir: dir})
	if err != nil {
		if ExitCode(err) > 0 {
			return "", nil
		}
		return "", err
	}
	top, oid, found := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	// In a directory without .git, git finds the repository around it.
	if !found || filepath.Clean(top) != filepath.Clean(dir) {
		return "", nil
	}
	return name.ParseOID(oid)
}
