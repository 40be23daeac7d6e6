package travel

// The content of git-lfs files is not in git. Before the first ref is pushed, the objects to be
// sent are passed to `git lfs push`. Objects that git-lfs did not take are remembered and passed to
// it again by the next push, because by then they are no longer among the objects to be sent.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/remote"
)

// outside returns the git-lfs files that this push passes to git-lfs. The first push to an address
// passes everything that the checkpoints there name, because an earlier version passed nothing.
func (c *pushRound) outside(ctx context.Context, tips []name.OID) ([]lfs.Named, error) {
	late, handed := c.memory.Outside[c.remote.Place]
	if !lfs.Open(c.s.Repo).InUse() {
		return nil, nil
	}
	tips, held := slices.Clone(tips), slices.Collect(maps.Values(c.there.Heads))
	if handed {
		for _, there := range c.there.Sessions {
			held = slices.AppendSeq(held, maps.Values(there.Held()))
		}
	} else {
		for _, here := range c.here.Sessions {
			tips = slices.AppendSeq(tips, maps.Values(here.Held()))
		}
	}
	named, err := lfs.PointersBelow(ctx, c.s.Repo, tips, held, false)
	if err != nil {
		return nil, err
	}
	expunged, err := clearance.ReadExpunged(c.s.Repo)
	if err != nil {
		return nil, err
	}
	met := map[string]bool{}
	return slices.DeleteFunc(append(named, late...), func(n lfs.Named) bool {
		out := met[n.ID] || expunged.Objects[n.Blob]
		met[n.ID] = true
		return out
	}), nil
}

// endpoint decides whether files may go where git-lfs would send them. Only the user's own configuration may
// name a place for them, and what is private goes there after somebody agreed, as to any other address.
func (c *pushRound) endpoint(ctx context.Context, named []lfs.Named) (err error) {
	if len(named) == 0 {
		return nil
	}
	if c.lfs, err = c.remote.LFSEndpoint(ctx); err != nil {
		return unreachable(err)
	}
	url := remote.Redact(c.lfs.URL)
	if c.lfs.Committed {
		hint := "if it is the right place: git config " + name.Quoted(c.lfs.Key) + " " + name.Quoted(c.lfs.URL)
		return checkpoint.Failure(checkpoint.KindRefused, hint, "the content of %s of git-lfs would go to %s, which only the file .lfsconfig names; nothing was sent", lfs.Count(named), url)
	}
	if at, err := c.remote.PushURL(ctx); err != nil || c.lfs.URL == at {
		return err
	}
	private := func(ctx context.Context) (*clearance.Private, error) {
		var commits []name.OID
		for _, here := range c.here.Sessions {
			commits = slices.AppendSeq(commits, maps.Values(here.Held()))
		}
		all, err := clearance.PrivateOf(ctx, c.s.Store, "", commits...)
		if err != nil {
			return nil, err
		}
		return all.Among(func(path string) bool {
			return slices.ContainsFunc(named, func(n lfs.Named) bool { return n.Path == path })
		}), nil
	}
	to := &clearance.Destination{URL: url, Private: private, Agree: c.req.Agree}
	return clearance.MayLeave(ctx, c.s, clearance.Sending{To: "git-lfs", Destination: to})
}

// sendOutside hands files to git-lfs. A failure is reported at the end of the transfer; the refs
// are still sent.
func (c *pushRound) sendOutside(ctx context.Context, named []lfs.Named) error {
	store := lfs.Open(c.s.Repo)
	if !store.InUse() {
		return nil
	}
	var here, gone []lfs.Named
	var ids []string
	for _, n := range named {
		if !store.Provide(n.Pointer) {
			gone = append(gone, n)
			continue
		}
		here, ids = append(here, n), append(ids, n.ID)
	}
	if len(gone) > 0 {
		c.unsent = append(c.unsent, fmt.Sprintf("the content of %s of git-lfs is not here, so it was not sent to %s: %s", lfs.Count(gone), c.answer.Remote, lfs.Paths(gone)))
	}
	left := []lfs.Named{}
	if err := c.remote.PushLFS(ctx, c.lfs, ids); err != nil {
		if ctx.Err() != nil {
			return err
		}
		left = here
		why := err.Error()
		if strings.Contains(why, "'lfs' is not a git command") {
			why = "git-lfs is not installed"
		}
		c.unsent = append(c.unsent, fmt.Sprintf("the content of %s of git-lfs was not sent to %s: %s: %s", lfs.Count(here), c.answer.Remote, lfs.Paths(here), why))
	}
	if c.memory.Outside == nil {
		c.memory.Outside = map[string][]lfs.Named{}
	}
	if late, handed := c.memory.Outside[c.remote.Place]; handed && len(late)+len(left) == 0 {
		return nil
	}
	c.memory.Outside[c.remote.Place] = left
	return c.memory.save(c.s.Store) // now: the next push finds what this one has sent at the remote
}

// unsentError returns the error for content that was not sent. If err is an error already, it
// returns that, and the content is only mentioned in warnings.
func (t *transfer) unsentError(err error) error {
	if len(t.unsent) == 0 {
		return err
	}
	said := t.unsent
	if err == nil {
		hint := "another clone cannot restore these files until it is there; the next push tries again"
		err, said = checkpoint.Failure(checkpoint.KindFailed, hint, "%s", said[0]), said[1:]
	}
	for _, text := range said {
		t.s.Store.Warn(text)
	}
	return err
}

// sayUnsent warns of content that the last push did not get to the remote.
func (t *transfer) sayUnsent() {
	for place, late := range t.memory.Outside {
		if len(late) > 0 {
			at := t.answer.Remote
			if place != "" {
				at = remote.Redact(place)
			}
			t.s.Store.Warn(fmt.Sprintf("the content of %s of git-lfs is not at %s yet: %s; `git checkpoint push` tries again", lfs.Count(late), at, lfs.Paths(late)))
		}
	}
}
