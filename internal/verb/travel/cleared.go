package travel

// What leaves the repository in a push passes through the gate in package clearance. This file tells
// the gate what is sent, where to, and what private content it has.

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/remote"
)

// mayBeSent passes everything that a push is about to send through the clearance gate, before the
// first ref is sent. The gate gets the tips to scan, and what the remote holds already, which need
// not be scanned. An error means that nothing may be sent. It returns the files of git-lfs to hand
// over.
func (c *pushRound) mayBeSent(ctx context.Context) ([]lfs.Named, error) {
	what := clearance.Sending{To: c.answer.Remote, Unscanned: c.req.Unscanned}
	tips := []name.OID{c.notes}
	for _, p := range c.plans {
		for _, u := range p.Create {
			tips = append(tips, u.New)
		}
		tips = append(tips, p.Journal)
		if j := c.folds[p.Session]; j != nil {
			what.Labels = append(what.Labels, clearance.Holders(j.log)...)
		}
	}
	for _, u := range c.archives {
		tips = append(tips, u.New)
	}
	tags, err := c.tags(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range tags {
		tips = append(tips, r.OID)
	}
	what.Tips = slices.DeleteFunc(tips, func(oid name.OID) bool { return oid == "" })
	if what.Outside, err = c.outside(ctx, what.Tips); err != nil {
		return nil, err
	}
	// A push that only deletes refs needs no clearance.
	if len(what.Tips)+len(what.Outside) == 0 {
		return nil, nil
	}
	// The name of a remote says nothing about what the push address has; its listing does.
	what.Held = slices.Collect(maps.Values(c.there.Heads))
	what.Elsewhere = c.unknownBranches
	if what.Destination, err = c.destination(ctx); err != nil {
		return nil, err
	}
	return what.Outside, clearance.MayLeave(ctx, c.s, what)
}

// unknownBranches returns a hint if the push address lists branches that are not here. What they
// hold is scanned as if it were new.
func (c *pushRound) unknownBranches(ctx context.Context) ([]string, error) {
	var branches []name.OID
	for ref, oid := range c.there.Heads {
		if strings.HasPrefix(string(ref), "refs/heads/") {
			branches = append(branches, oid)
		}
	}
	missing, err := c.s.Repo.Objects.Batch().Missing(ctx, branches)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	from := c.remote.Name
	if c.remote.Place != "" {
		from = c.remote.Place
	}
	return []string{"branches there are not here yet; if one of them has it already: git fetch " + name.Quoted(remote.Redact(from))}, nil
}

// destination describes to the gate where this push goes and what private content it has: untracked
// files and conversations with a coding agent. Both are computed only when the gate asks, because
// that reads every checkpoint that is to be sent.
func (c *pushRound) destination(ctx context.Context) (*clearance.Destination, error) {
	url, err := c.remote.PushURL(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	files := func(add func(context.Context, name.OID, map[string]bool) error) func(context.Context) ([]string, error) {
		return func(ctx context.Context) ([]string, error) {
			paths := map[string]bool{}
			err := c.each(ctx, func(commit name.OID) error { return add(ctx, commit, paths) })
			return slices.Sorted(maps.Keys(paths)), err
		}
	}
	talk := func(ctx context.Context) (found clearance.Conversations, err error) {
		err = c.each(ctx, func(commit name.OID) error { return c.addTalk(ctx, commit, &found) })
		return found, err
	}
	return &clearance.Destination{URL: remote.Redact(url), Untracked: files(c.addUntracked), Ignored: files(c.addIgnored), Conversations: talk, Agree: c.req.Agree}, nil
}

// each calls look for every checkpoint that the push may send. Errors of look are ignored, because
// a damaged checkpoint cannot be sent anyway, unless the context has ended.
func (c *pushRound) each(ctx context.Context, look func(name.OID) error) error {
	for _, p := range c.plans {
		there := c.there.Session(p.Session).Held()
		for id, commit := range c.here.Session(p.Session).Held() {
			if there[id] == commit {
				continue
			}
			if err := look(commit); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// addTalk counts the prompt and the transcript of a coding agent that a checkpoint keeps.
func (c *pushRound) addTalk(ctx context.Context, commit name.OID, found *clearance.Conversations) error {
	rec, err := c.s.Store.Record(ctx, commit)
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
// Gitlinks, and files that were captured although they were ignored, are left out.
func (c *pushRound) addUntracked(ctx context.Context, commit name.OID, paths map[string]bool) error {
	m, err := c.s.Store.RecordCommit(ctx, commit)
	if err != nil {
		return err
	}
	index, err := c.s.Store.IndexTree(ctx, m)
	if err != nil {
		return err
	}
	made, err := c.s.Repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return err
	}
	ignored := map[string]bool{}
	if err := c.addIgnored(ctx, commit, ignored); err != nil {
		return err
	}
	changes, err := c.s.Repo.Trees.Diff(ctx, index, made.Tree)
	for _, d := range changes {
		if d.Old.Mode == 0 && d.New.Mode != git.ModeGitlink && !ignored[d.Path] {
			paths[d.Path] = true
		}
	}
	return err
}

// addIgnored adds to paths the files that a checkpoint has although they were ignored.
func (c *pushRound) addIgnored(ctx context.Context, commit name.OID, paths map[string]bool) error {
	rec, err := c.s.Store.Record(ctx, commit)
	if err != nil {
		return err
	}
	ignored, _ := record.Ignored.Of(rec.Snapshot.Extra)
	for _, p := range ignored {
		paths[string(p)] = true
	}
	return nil
}
