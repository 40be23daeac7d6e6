package inspect

import (
	"context"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// ShownFiles gives the two trees that `show --stat` and `-p` compare: that of the
// checkpoint, and the one that the files of its record were compared with.
func ShownFiles(ctx context.Context, s *checkpoint.Service, d *checkpoint.Detail) (*Difference, error) {
	if d.Record.Snapshot.Tree == "" {
		s.Warn(d.Record.Label + " was imported without files, so there are none to compare")
		return &Difference{}, nil
	}
	before, err := treeBefore(ctx, s, d.Record)
	return &Difference{FromTree: before, ToTree: d.Record.Snapshot.Tree}, err
}

// treeBefore is the tree of the checkpoint before, as long as git has it, else that of
// HEAD then; empty where there was no commit.
func treeBefore(ctx context.Context, s *checkpoint.Service, rec *record.Record) (name.OID, error) {
	if rec.Previous != "" {
		if before, err := s.Resolve(ctx, string(rec.Session), string(rec.Previous)); err == nil {
			if was, _, _, err := s.ReadRecord(ctx, before.Entry); err == nil && was.Snapshot.Tree != "" {
				return was.Snapshot.Tree, nil
			}
		}
		s.Warn(fmt.Sprintf("%s, the checkpoint before, cannot be compared with: HEAD of then stands in for it", rec.Previous))
	}
	if rec.Git.Head == "" {
		return "", nil
	}
	commit, err := s.Repo.ReadCommit(ctx, string(rec.Git.Head))
	return commit.Tree, checkpoint.Classify(err)
}
