package connect

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
)

// losable is the pathspec of files that git usually ignores and people cannot afford to lose.
const losable = ".env*"

// Losable returns such files at the top of the worktree, unless somebody has set checkpoint.include.
func Losable(ctx context.Context, repo *git.Repo) ([]string, error) {
	if len(repo.Config.All("checkpoint.include")) > 0 {
		return nil, nil
	}
	out, err := repo.Output(ctx, "ls-files", "-z", "--full-name", "--others", "--ignored", "--exclude-standard", "--", ":(top,glob)"+losable)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// KeepLosable configures checkpoints to include them.
func KeepLosable(ctx context.Context, repo *git.Repo) error {
	if _, err := repo.Output(ctx, "config", "--local", "--add", "checkpoint.include", ":(top,glob)"+losable); err != nil {
		return fmt.Errorf("set checkpoint.include: %w", err)
	}
	return nil
}
