package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/blame"
	"git-checkpoint/internal/verb/inspect"
)

// LogCmd is "git checkpoint log": it passes its arguments to git log. With paths, package blame
// first builds a history in which each checkpoint has the one before it as parent, so that git can
// limit it to them.
type LogCmd struct {
	sessionFlag
	Args []string `arg:"" optional:"" name:"git-log-option" verbatim:"" complete:"file" help:"Options and paths of git log."`
}

// partPaths splits the arguments of git log into options and paths, as git does: paths are what
// follows "--", else the words at the end that exist as files.
func partPaths(s *checkpoint.Service, args []string) (options, paths []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	i := len(args)
	for i > 0 && !strings.HasPrefix(args[i-1], "-") && isHere(s, args[i-1]) {
		i--
	}
	return args[:i], args[i:]
}

// isHere reports whether a path exists in the worktree.
func isHere(s *checkpoint.Service, p string) bool {
	at, err := s.Repo.Below(p)
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(s.Repo.WorkTree, filepath.FromSlash(at)))
	return err == nil
}

// Run runs git log through the pager.
func (c *LogCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return app.page(ctx, s, func(w io.Writer) error {
		options, paths := partPaths(s, c.Args)
		if len(paths) > 0 {
			return ended(blame.Log(ctx, s, c.Session, options, paths, app.git(w)))
		}
		return ended(inspect.PrintLog(ctx, s, c.Session, c.Args, app.git(w)))
	})
}
