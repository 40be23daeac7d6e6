package rollback

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
)

// excluded returns the files in which two trees differ and that checkpoint.exclude names. No
// rollback touches them: what is there is in no safety checkpoint, and what a rollback put there
// could not be taken away again by its undo.
func excluded(ctx context.Context, s *checkpoint.Service, cur, tree name.OID) ([]string, error) {
	specs := create.ExcludedAlways(s)
	if len(specs) == 0 {
		return nil, nil
	}
	found, err := s.Repo.Trees.DiffMatching(ctx, cur, tree, specs)
	return slices.Sorted(maps.Keys(found)), err
}

// sayExcluded refuses a rollback of some paths if checkpoint.exclude names all that differ: it would
// restore nothing, but still discard checkpoints. An undo warns of such paths: a rollback that was
// made before they were excluded may have changed them, and they are not brought back.
func (r *fileMoves) sayExcluded(paths []string) error {
	first := slices.IndexFunc(paths, func(p string) bool { return r.plan.Scope.Only == nil || r.plan.Scope.Only(p) })
	if first < 0 {
		return nil
	}
	said := fmt.Sprintf("%s stays as it is, because checkpoint.exclude matches it", name.Clip(paths[first], name.Said))
	how := fmt.Sprintf("`git restore --source=%s -- PATH` brings it back", r.Files.Event().Commit.Short())
	if r.Exact {
		r.s.Warn(said + "; " + how)
	} else if len(r.req.Paths) > 0 && len(r.plan.Ops) == 0 {
		return checkpoint.Failure(checkpoint.KindRefused, how, "%s; nothing else differs", said)
	}
	return nil
}
