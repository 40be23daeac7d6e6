package rollback

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/inspect"
)

// leftOut lists what the checkpoint left out, and what changed in nested repositories, so that
// nobody believes that these were restored.
func (r *fileMoves) leftOut(ctx context.Context) ([]inspect.LeftOut, error) {
	if r.Adds || r.FilesStay || r.record.Snapshot.Tree == "" {
		return nil, nil
	}
	shot, err := r.s.Worktree()
	if err != nil {
		return nil, err
	}
	list := inspect.LeftOutOf(r.s, r.record, shot.Sight)
	moved, err := inspect.MovedInside(ctx, r.s, r.record, r.cur)
	if err != nil {
		return nil, err
	}
	for _, m := range moved {
		is := func(path checkpoint.Path) bool { return strings.TrimSuffix(string(path), "/") == string(m.Path) }
		if at := slices.IndexFunc(list, func(l inspect.LeftOut) bool { return is(l.Path) }); at >= 0 {
			list[at].Changed = !list[at].Deleted
			continue
		}
		l := inspect.LeftOut{Path: m.Path + "/", Reason: "submodule", Changed: true}
		if at := slices.IndexFunc(r.cur.Skipped, func(sk snapshot.Skip) bool { return is(checkpoint.Path(sk.Path)) }); at >= 0 {
			l.Reason = r.cur.Skipped[at].Reason
		}
		list = append(list, l)
	}
	only := r.plan.Scope.Only
	return slices.DeleteFunc(list, func(l inspect.LeftOut) bool {
		return only != nil && !only(strings.TrimSuffix(string(l.Path), "/"))
	}), nil
}
