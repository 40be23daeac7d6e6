package checkpoint

import (
	"context"
	"fmt"

	"git-checkpoint/internal/name"
)

// UnknownSince says, after a comparison with the tree of a checkpoint failed, that the
// tree itself cannot be read. It is empty when the tree is whole: the comparison failed
// for another reason then.
func UnknownSince(ctx context.Context, s *Service, label string, tree name.OID) string {
	if _, err := s.Repo.DiffTrees(ctx, "", tree); err == nil || ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%s: the tree of its files (%s) cannot be read, so what changed since is unknown; `git checkpoint rebuild %s` says what can be done", label, tree, label)
}
