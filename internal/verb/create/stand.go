package create

// This file finds the checkpoint that a new one goes on from. That is the place of the worktree, unless
// all that another line has is in the files here, as after a clone or a `git pull` of what was committed.

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// stand returns the checkpoint that the new one goes on from, nil if there is none. A worktree without a
// place follows the newest one for its state and number; onHead says that its files begin at HEAD then. Before a step
// has run nothing is captured, and nobody knows what the files will be.
func (c *captured) stand(ctx context.Context, st *journal.State) (at *journal.Entry, onHead bool, err error) {
	at = st.CurrentEntry()
	if at == nil || c.capture == nil || c.safety || c.req.tree != "" || st.Place != "" && st.Place == st.Newest {
		return at, false, nil
	}
	for _, head := range slices.Backward(st.Heads()) {
		here, err := c.hasAllOf(ctx, st, head)
		if err != nil || here {
			return head, false, err
		}
	}
	return at, st.Place == "", nil
}

// hasAllOf reports whether the files have all that a head changed since the place, if that is on its line, or
// without a place since a commit that HEAD contains.
func (c *captured) hasAllOf(ctx context.Context, st *journal.State, head *journal.Entry) (bool, error) {
	place := st.Entry(st.Place)
	if place != nil && (place == head || !st.OnLine(head)[place.Place]) {
		return false, nil
	}
	rec, err := c.s.ReadRecord(ctx, head)
	if err != nil || rec.Snapshot.Tree == "" {
		return false, ctx.Err() // what cannot be read is not here
	}
	var from name.OID
	if place != nil {
		was, err := c.s.ReadRecord(ctx, place)
		if err != nil {
			return false, ctx.Err()
		}
		from = was.Snapshot.Tree
	} else if rec.Git.Head != "" {
		if from, err = c.s.Repo.Commits.TreeOf(ctx, rec.Git.Head); err != nil || !c.s.HeadContains(ctx, rec.Git.Head) {
			return false, ctx.Err()
		}
	}
	lacks, err := c.s.Repo.Trees.Diff(ctx, rec.Snapshot.Tree, c.capture.Tree)
	if err != nil {
		return false, ctx.Err()
	}
	differs := gather.Set(lacks, func(ch git.Change) string { return ch.Path })
	changed, err := c.s.Repo.Trees.Diff(ctx, from, rec.Snapshot.Tree)
	for _, ch := range changed {
		if differs[ch.Path] {
			return false, nil
		}
	}
	return err == nil, ctx.Err()
}

// goOn returns the event that the create needs before it, if any; see journal.State.GoOn.
func (c *draft) goOn(st *journal.State) []journal.Event {
	on := st.GoOn(c.prev.entry)
	if on == nil {
		return nil
	}
	c.prev.heads = len(st.Heads())
	on.Session, on.Time, on.Actor = c.session, c.at, c.event.Actor
	return []journal.Event{*on}
}

// tellHeads says that the session went on in several places, if the new checkpoint made a head.
func (c *draft) tellHeads(ctx context.Context, st *journal.State) {
	if c.prev.heads > 0 && len(st.Heads()) > c.prev.heads {
		c.s.Warn(c.s.WentOn(ctx, st))
	}
}
