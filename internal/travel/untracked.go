package travel

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// destination is where this push goes, with what of it git did not track.
func (t *trip) destination(ctx context.Context, c *consignment) (*clearance.Destination, error) {
	url, err := t.remote.PushURL(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	untracked := func(ctx context.Context) ([]string, error) {
		paths := map[string]bool{}
		for _, p := range c.plans {
			there := c.there.Session(p.Session).Held()
			for id, commit := range c.here.Session(p.Session).Held() {
				if there[id] == commit {
					continue
				}
				if err := t.addUntracked(ctx, commit, paths); err != nil && ctx.Err() != nil {
					return nil, checkpoint.Classify(err)
				}
			}
		}
		return slices.Sorted(maps.Keys(paths)), nil
	}
	return &clearance.Destination{URL: remote.Redact(url), Untracked: untracked, Agree: t.req.Agree}, nil
}

// addUntracked adds the files of a checkpoint that were not in the index. A damaged
// checkpoint adds none: it cannot be sent either.
func (t *trip) addUntracked(ctx context.Context, commit name.OID, paths map[string]bool) error {
	m, err := t.s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return err
	}
	index, err := t.s.Store.IndexTree(ctx, m)
	if err != nil {
		return err
	}
	c, err := t.s.Repo.ReadCommit(ctx, string(commit))
	if err != nil {
		return err
	}
	changes, err := t.s.Repo.DiffTrees(ctx, index, c.Tree)
	for _, d := range changes {
		if d.Old.Mode == 0 && d.New.Mode != git.ModeGitlink {
			paths[d.Path] = true
		}
	}
	return err
}
