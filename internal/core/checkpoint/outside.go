package checkpoint

import (
	"context"
	"fmt"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/store"
)

// KeepOutside keeps the content of git-lfs that a new checkpoint names from `git lfs prune`; see
// package lfs. A failure is a warning: the checkpoint itself is made.
func KeepOutside(ctx context.Context, s *Rules, tree, recordCommit name.OID) {
	store := lfs.Open(s.Repo)
	if !store.InUse() {
		return
	}
	record, err := s.Repo.Commits.Read(ctx, string(recordCommit))
	var failed []lfs.Named
	if err == nil {
		failed, err = store.Keep(ctx, []name.OID{tree, record.Tree}, largestCopy(s.Settings))
	}
	if len(failed) > 0 {
		s.Store.Warn(fmt.Sprintf("%s of git-lfs not kept beside the checkpoint, and `git lfs prune` may delete it: %s: %v", lfs.Count(failed), name.Clip(failed[0].Path, name.Said), err))
	} else if err != nil {
		s.Store.Warn(err.Error())
	}
}

// SweepOutside drops what KeepOutside keeps for checkpoints that are gone, and keeps what is named by
// those that came from elsewhere.
func SweepOutside(ctx context.Context, s *Rules) {
	trees := func() ([]name.OID, error) { return treesOfAll(ctx, s.Store) }
	if err := lfs.Open(s.Repo).Sweep(ctx, trees, largestCopy(s.Settings)); err != nil {
		s.Store.Warn(fmt.Sprintf("nothing was removed from the directory checkpoint/lfs: %v", err))
	}
}

// largestCopy returns the largest size that is copied where no hard link can be made.
func largestCopy(settings *Settings) int64 {
	most, err := settings.Size("checkpoint.maxFileSize", DefaultMaxFileSize)
	if err != nil {
		return DefaultMaxFileSize
	}
	return most
}

// treesOfAll returns the trees of all checkpoint commits and record commits that refs and archives
// name. It fails if one cannot be read: it is not known what that one needs.
func treesOfAll(ctx context.Context, s *store.Store) (trees []name.OID, err error) {
	refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot)
	if err != nil {
		return nil, err
	}
	for _, r := range s.Held(ctx, refs) {
		_, leaf, _ := name.SplitCheckpointRef(r.Ref)
		if _, err := name.ParseID(leaf); err != nil {
			continue // a journal or an archive
		}
		record, err := s.RecordCommit(ctx, r.OID)
		if err != nil {
			return nil, err
		}
		for _, oid := range []name.OID{r.OID, record} {
			commit, err := s.Repo.Commits.Read(ctx, string(oid))
			if err != nil {
				return nil, err
			}
			trees = append(trees, commit.Tree)
		}
	}
	return trees, nil
}
