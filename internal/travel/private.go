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

// destination is where this push goes, with what of it is private.
func (t *trip) destination(ctx context.Context, c *consignment) (*clearance.Destination, error) {
	url, err := t.remote.PushURL(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	private := func(ctx context.Context) (clearance.Private, error) {
		var found clearance.Private
		paths := map[string]bool{}
		for _, p := range c.plans {
			there := c.there.Session(p.Session).Held()
			for id, commit := range c.here.Session(p.Session).Held() {
				if there[id] == commit {
					continue
				}
				err := t.addUntracked(ctx, commit, paths)
				if err == nil {
					err = t.countWords(ctx, commit, &found)
				}
				if err != nil && ctx.Err() != nil { // a damaged checkpoint cannot be sent either
					return found, checkpoint.Classify(err)
				}
			}
		}
		found.Files = slices.Sorted(maps.Keys(paths))
		return found, nil
	}
	return &clearance.Destination{URL: remote.Redact(url), Private: private, Agree: t.req.Agree}, nil
}

// countWords counts what a checkpoint keeps of a conversation with a coding agent.
func (t *trip) countWords(ctx context.Context, commit name.OID, found *clearance.Private) error {
	rec, _, _, err := t.s.Store.Record(ctx, commit)
	if err != nil {
		return err
	}
	if rec.HasPrompt() {
		found.Prompts++
	}
	if a, ok := rec.Agent(); ok && a.Transcript != nil {
		found.Transcripts++
	}
	return nil
}

// addUntracked adds the files of a checkpoint that were not in the index.
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
