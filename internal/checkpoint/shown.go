package checkpoint

import (
	"context"
	"fmt"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// ShownFiles gives the two trees that `show --stat` and `-p` compare: that of the
// checkpoint, and the one that the files of its record were compared with.
func (s *Service) ShownFiles(ctx context.Context, d *Detail) (*Difference, error) {
	if d.Record.Snapshot.Tree == "" {
		s.warn(d.Record.Label + " was imported without files, so there are none to compare")
		return &Difference{}, nil
	}
	before, err := s.treeBefore(ctx, d.Record)
	return &Difference{FromTree: before, ToTree: d.Record.Snapshot.Tree}, err
}

// treeBefore is the tree of the checkpoint before, as long as git has it, else that of
// HEAD then; empty where there was no commit.
func (s *Service) treeBefore(ctx context.Context, rec *record.Record) (name.OID, error) {
	if rec.Previous != "" {
		if before, err := s.resolve(ctx, string(rec.Session), string(rec.Previous)); err == nil {
			if was, _, _, err := s.readRecord(ctx, before.entry); err == nil && was.Snapshot.Tree != "" {
				return was.Snapshot.Tree, nil
			}
		}
		s.warn(fmt.Sprintf("%s, the checkpoint before, cannot be compared with: HEAD of then stands in for it", rec.Previous))
	}
	if rec.Git.Head == "" {
		return "", nil
	}
	commit, err := s.repo.ReadCommit(ctx, string(rec.Git.Head))
	return commit.Tree, classify(err)
}
