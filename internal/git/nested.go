package git

import (
	"context"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/name"
)

// HeadOf gives the commit that the HEAD of another repository, whose worktree is
// dir, points to; empty when it has none or is no repository. Its own hooks and
// file watchers are not started.
func (r *Repo) HeadOf(ctx context.Context, dir string) (name.OID, error) {
	other := &Repo{program: r.program, env: r.env, WorkTree: dir}
	res, err := other.Run(ctx, Cmd{Args: []string{"rev-parse", "--verify", "-q", "--show-toplevel", "HEAD"}, Dir: dir})
	if err != nil {
		if ExitCode(err) > 0 {
			return "", nil
		}
		return "", err
	}
	top, oid, found := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	if !found || filepath.Clean(top) != filepath.Clean(dir) { // an empty directory lies in the outer repository
		return "", nil
	}
	return name.ParseOID(oid)
}
