package rollback

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// OverwriteHint tells the user how to let a rollback replace ignored files.
const OverwriteHint = "--overwrite-ignored captures ignored files in the safety checkpoint and overwrites them; undo brings them back"

// overwritable returns the ignored files that are in the way and that the request allows to be
// captured and replaced. An undo needs no permission where nothing would be lost, because the file
// there is the one that it brings back.
func (r *fileMoves) overwritable() []string {
	var out []string
	for _, c := range r.plan.Collisions {
		if c.Ignored && (r.req.OverwriteIgnored || r.Exact && c.Same) {
			out = append(out, c.Path)
		}
	}
	return out
}

// refuseCollisions returns an error if a file that no checkpoint has is in the way.
func (r *fileMoves) refuseCollisions() error {
	if len(r.plan.Collisions) == 0 {
		return r.refuseLocked()
	}
	e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "nothing was changed: files in the way are in no checkpoint, and would be lost"}
	if len(r.req.Paths) > 0 {
		e.Message = "nothing was changed: files in the way are in no checkpoint, or not below the paths that were named"
	}
	ignored := false
	for i, c := range r.plan.Collisions {
		ignored = ignored || c.Ignored
		if i == 10 {
			e.Hints = append(e.Hints, fmt.Sprintf("… and %d more", len(r.plan.Collisions)-i))
			break
		}
		e.Hints = append(e.Hints, c.Path+" ("+c.Reason+")")
		at := slices.IndexFunc(r.cur.Skipped, func(sk snapshot.Skip) bool { return sk.Path == c.Path && sk.Said != "" })
		if at >= 0 {
			e.Hints = append(e.Hints, "its filter said: "+r.cur.Skipped[at].Said)
		}
	}
	if ignored {
		e.Hints = append(e.Hints, OverwriteHint)
	} else {
		e.Hints = append(e.Hints, "move them out of the way, or roll back only other paths: -- PATH…")
	}
	return e
}

// refuseLocked returns an error for files that the system would not let this process replace.
func (r *fileMoves) refuseLocked() error {
	if len(r.plan.Locked) == 0 {
		return nil
	}
	named := render.First(r.plan.Locked, 10, "… and %d more", func(l snapshot.Skip) string { return l.Path + " (" + l.Reason + ")" })
	return &checkpoint.Error{
		Kind: checkpoint.KindRefused, Message: "nothing was changed: files of the plan cannot be replaced or removed",
		Hints: append(named, "or roll back only other paths: -- PATH…"),
	}
}

// excluded returns the files in which two trees differ and that checkpoint.exclude names. No
// rollback touches them: what is there is in no safety checkpoint, and what a rollback put there
// could not be taken away again by its undo.
func excluded(ctx context.Context, repo *git.Repo, cur, tree name.OID) ([]string, error) {
	specs := create.ExcludedAlways(repo)
	if len(specs) == 0 {
		return nil, nil
	}
	found, err := repo.Trees.DiffMatching(ctx, cur, tree, specs)
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
		r.s.Store.Warn(said + "; " + how)
	} else if len(r.req.Paths) > 0 && len(r.plan.Ops) == 0 {
		return checkpoint.Failure(checkpoint.KindRefused, how, "%s; nothing else differs", said)
	}
	return nil
}
