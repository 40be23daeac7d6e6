package rollback

import (
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/snapshot"
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
