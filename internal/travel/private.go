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

// destination describes to the gate where this push goes and what private content it has: untracked
// files and conversations with a coding agent. Both are computed only when the gate asks, because
// that reads every checkpoint that is to be sent.
func (c *consignment) destination(ctx context.Context) (*clearance.Destination, error) {
	url, err := c.remote.PushURL(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	untracked := func(ctx context.Context) ([]string, error) {
		paths := map[string]bool{}
		err := c.each(ctx, func(commit name.OID) error { return c.addUntracked(ctx, commit, paths) })
		return slices.Sorted(maps.Keys(paths)), err
	}
	talk := func(ctx context.Context) (found clearance.Talk, err error) {
		err = c.each(ctx, func(commit name.OID) error { return c.addTalk(ctx, commit, &found) })
		return found, err
	}
	return &clearance.Destination{URL: remote.Redact(url), Untracked: untracked, Talk: talk, Agree: c.req.Agree}, nil
}

// each calls look for every checkpoint that the push may send. Errors of look are ignored, because
// a damaged checkpoint cannot be sent anyway, unless the context has ended.
func (c *consignment) each(ctx context.Context, look func(name.OID) error) error {
	for _, p := range c.plans {
		there := c.there.Session(p.Session).Held()
		for id, commit := range c.here.Session(p.Session).Held() {
			if there[id] == commit {
				continue
			}
			if err := look(commit); err != nil && ctx.Err() != nil {
				return checkpoint.Classify(err)
			}
		}
	}
	return nil
}

// addTalk counts the prompt and the transcript of a coding agent that a checkpoint keeps.
func (c *consignment) addTalk(ctx context.Context, commit name.OID, found *clearance.Talk) error {
	rec, _, _, err := c.s.Store.Record(ctx, commit)
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

// addUntracked adds to paths the files of a checkpoint that were not in the index when it was made:
// the additions between the staged tree in the record commit and the tree of the checkpoint.
// Gitlinks are left out.
func (c *consignment) addUntracked(ctx context.Context, commit name.OID, paths map[string]bool) error {
	m, err := c.s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return err
	}
	index, err := c.s.Store.IndexTree(ctx, m)
	if err != nil {
		return err
	}
	made, err := c.s.Repo.ReadCommit(ctx, string(commit))
	if err != nil {
		return err
	}
	changes, err := c.s.Repo.DiffTrees(ctx, index, made.Tree)
	for _, d := range changes {
		if d.Old.Mode == 0 && d.New.Mode != git.ModeGitlink {
			paths[d.Path] = true
		}
	}
	return err
}
