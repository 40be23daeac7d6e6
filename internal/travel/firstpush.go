package travel

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// FirstPush is what the first push to a remote says: checkpoints hold untracked files.
type FirstPush struct {
	Remote      string
	Checkpoints int // that are here
	Untracked   int // files in them that git did not track then
	AtLeast     bool
}

// maxLooked bounds how many checkpoints are looked through for the notice.
const maxLooked = 500

// FirstPushTo gives what has to be said before the first push to a remote from here;
// nil when it was said, or there is nothing to say.
func FirstPushTo(ctx context.Context, s *checkpoint.Service, req Request) (*FirstPush, error) {
	t, err := newTrip(s, req)
	if err != nil || t.memory.Pushed {
		return nil, err
	}
	here, err := t.here(ctx)
	if err != nil {
		return nil, err
	}
	f := &FirstPush{Remote: t.answer.Remote}
	paths := map[string]bool{}
	for _, session := range here.Names() {
		for _, commit := range here.Sessions[session].Held() {
			if f.Checkpoints++; f.Checkpoints > maxLooked {
				f.AtLeast = true
				continue
			}
			if err := untracked(ctx, s, commit, paths); err != nil && ctx.Err() != nil {
				return nil, checkpoint.Classify(err)
			}
		}
	}
	if f.Untracked = len(paths); f.Untracked == 0 {
		return nil, nil
	}
	return f, nil
}

// untracked adds the files of a checkpoint that were not in the index.
func untracked(ctx context.Context, s *checkpoint.Service, commit name.OID, paths map[string]bool) error {
	m, err := s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return err
	}
	index, err := s.Store.IndexTree(ctx, m)
	if err != nil {
		return err
	}
	c, err := s.Repo.ReadCommit(ctx, string(commit))
	if err != nil {
		return err
	}
	changes, err := s.Repo.DiffTrees(ctx, index, c.Tree)
	for _, d := range changes {
		if d.Old.Mode == 0 && d.New.Mode != git.ModeGitlink {
			paths[d.Path] = true
		}
	}
	return err
}
