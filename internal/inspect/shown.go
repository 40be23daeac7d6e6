package inspect

// This file selects what `show --stat` and `show -p` compare.

import (
	"context"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// ShownFiles returns the two trees that `show --stat` and `show -p` compare: the checkpoint's, and
// the one that the record's list of files is relative to.
func ShownFiles(ctx context.Context, s *checkpoint.Service, d *checkpoint.Detail) (*Difference, error) {
	if d.Record.Snapshot.Tree == "" {
		s.Warn(d.Record.Label + " was imported without files, so there is nothing to compare")
		return &Difference{}, nil
	}
	before, err := treeBefore(ctx, s, d.Record)
	return &Difference{FromTree: before, ToTree: d.Record.Snapshot.Tree}, err
}

// treeBefore returns the tree of the checkpoint before. If git does not have that any more it
// returns the tree of HEAD at that time, and "" if there was no commit.
func treeBefore(ctx context.Context, s *checkpoint.Service, rec *record.Record) (name.OID, error) {
	if rec.Previous != "" {
		// The checkpoint before may be pruned or damaged.
		if before, err := s.Resolve(ctx, string(rec.Session), string(rec.Previous)); err == nil {
			if was, _, _, err := s.ReadRecord(ctx, before.Entry); err == nil && was.Snapshot.Tree != "" {
				return was.Snapshot.Tree, nil
			}
		}
		s.Warn(fmt.Sprintf("the checkpoint before it, %s, cannot be read; compared with HEAD at that time instead", rec.Previous))
	}
	if rec.Git.Head == "" {
		return "", nil
	}
	commit, err := s.Repo.ReadCommit(ctx, string(rec.Git.Head))
	return commit.Tree, checkpoint.Classify(err)
}
