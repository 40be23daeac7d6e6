package checkpoint

import (
	"context"
	"fmt"

	"git-checkpoint/internal/name"
)

// UnknownSince explains a failed comparison with the tree of a checkpoint. If that tree cannot be
// read, it returns a warning that says so. It returns "" if the tree is whole, because then the
// comparison failed for another reason.
func UnknownSince(ctx context.Context, s *Service, label string, tree name.OID) string {
	if _, err := s.Repo.DiffTrees(ctx, "", tree); err == nil || ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%s: the tree of its files (%s) cannot be read, so it is unknown what changed since; `git checkpoint rebuild %s` says what can be repaired", label, tree, label)
}
