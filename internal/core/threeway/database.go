package threeway

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/worktree"
)

// keepWhole makes a conflict of a database of which the result would have some files of one state, and some of another.
func (m *Merge) keepWhole(ctx context.Context) error {
	for _, p := range slices.Sorted(maps.Keys(m.edits)) {
		base := cmp.Or(worktree.DatabaseOf(p), p)
		ours, err := m.group(ctx, m.ours.Tree, base)
		if err != nil {
			return err
		}
		result := ours
		beside := false
		for i, q := range worktree.Group(base) {
			v, edited := m.edits[q]
			if edited {
				result[i] = v.Entry.OID
			}
			beside = beside || i > 0 && (edited || ours[i] != "")
		}
		if !beside || !snapshot.HasDatabase(ctx, m.repo, m.ours.Tree, base) {
			continue
		}
		whole := false
		for _, tree := range m.Theirs {
			theirs, err := m.group(ctx, tree, base)
			if err != nil {
				return err
			}
			whole = whole || theirs == result
		}
		for _, q := range worktree.Group(base) {
			if !whole && m.out[q] != nil {
				m.conflict(q, "a database is brought back with all that belongs to it, and that changed since")
			}
		}
	}
	return nil
}

// group returns the blobs that a tree has of a database and of what belongs to it.
func (m *Merge) group(ctx context.Context, tree name.OID, base string) (blobs [3]name.OID, err error) {
	for i, q := range worktree.Group(base) {
		e, _, err := m.repo.Trees.Lookup(ctx, tree, q)
		if err != nil {
			return blobs, err
		}
		blobs[i] = e.OID
	}
	return blobs, nil
}
