package travel

// What leaves the repository in a push passes through the gate in package clearance. This file tells
// the gate what is sent, where to, and what private content it has.

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/sys/gather"
)

// mayBeSent passes everything that a push is about to send through the clearance gate, before the
// first ref is sent. The gate gets the tips to scan, and what the remote holds already, which need
// not be scanned. An error means that nothing may be sent. It returns the files of git-lfs to hand
// over.
func (c *pushRound) mayBeSent(ctx context.Context) (_ []lfs.Named, err error) {
	what := clearance.Sending{To: c.answer.Remote, Unscanned: c.req.Unscanned}
	tips := []name.OID{c.notes}
	for _, p := range c.plans {
		tips = append(tips, gather.List(p.Create, func(u remote.Update) name.OID { return u.New })...)
		tips = append(tips, p.Journal)
		if j := c.folds[p.Session]; j != nil {
			what.Labels = append(what.Labels, clearance.Holders(j.log)...)
		}
	}
	tips = append(tips, gather.List(c.archives, func(u remote.Update) name.OID { return u.New })...)
	if c.req.Tags && len(c.plans) > 0 {
		below := gather.List(c.plans, func(p remote.Plan) string { return name.TagRoot + string(p.Session) + "/" })
		if c.tags, err = c.s.Repo.Refs.List(ctx, below...); err != nil {
			return nil, err
		}
	}
	tips = append(tips, gather.List(c.tags, func(r git.RefValue) name.OID { return r.OID })...)
	what.Tips = slices.DeleteFunc(tips, func(oid name.OID) bool { return oid == "" })
	if what.Outside, err = c.outside(ctx, what.Tips); err != nil {
		return nil, err
	}
	if err := c.endpoint(ctx, what.Outside); err != nil {
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
	from := cmp.Or(c.remote.Place, c.remote.Name)
	return []string{"branches there are not here yet; if one of them has it already: git fetch " + name.Quoted(remote.Redact(from))}, nil
}

// destination describes to the gate where this push goes and what private content it has. That is
// computed only when the gate asks, because it reads every checkpoint that is to be sent.
func (c *pushRound) destination(ctx context.Context) (*clearance.Destination, error) {
	url, err := c.remote.PushURL(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	private := func(ctx context.Context) (*clearance.Private, error) {
		var unsent []name.OID // every checkpoint that the push may send
		for _, p := range c.plans {
			there := c.there.Session(p.Session).Held()
			for id, commit := range c.here.Session(p.Session).Held() {
				if there[id] != commit {
					unsent = append(unsent, commit)
				}
			}
		}
		return clearance.PrivateOf(ctx, c.s.Store, c.there.Heads[c.s.Repo.Head.Branch], unsent...)
	}
	return &clearance.Destination{URL: remote.Redact(url), Private: private, Agree: c.req.Agree}, nil
}
