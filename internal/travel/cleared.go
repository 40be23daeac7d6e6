package travel

import (
	"context"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/name"
)

// mayBeSent passes everything that a push is about to send through the clearance gate, before the
// first ref goes. The gate gets the tips to scan, and what the remote holds already, which need not
// be scanned. An error means that nothing may be sent.
func (c *consignment) mayBeSent(ctx context.Context) error {
	what := clearance.Sending{To: c.answer.Remote, Unscanned: c.req.Unscanned}
	for _, p := range c.plans {
		for _, u := range p.Create {
			what.Tips = append(what.Tips, u.New)
		}
		if p.Journal != "" {
			what.Tips = append(what.Tips, p.Journal)
		}
		if j := c.folds[p.Session]; j != nil {
			what.Labels = append(what.Labels, clearance.Holders(j.log)...)
		}
	}
	for _, u := range c.archives {
		what.Tips = append(what.Tips, u.New)
	}
	if c.notes != "" {
		what.Tips = append(what.Tips, c.notes)
	}
	if c.req.Tags {
		tags, err := c.s.Repo.Refs(ctx, name.TagRoot)
		if err != nil {
			return checkpoint.Classify(err)
		}
		for _, r := range tags {
			if c.ownTag(r.Ref) {
				what.Tips = append(what.Tips, r.OID)
			}
		}
	}
	// A push that only deletes refs needs no clearance.
	if len(what.Tips) == 0 {
		return nil
	}
	var err error
	if what.Held, err = c.heldThere(ctx); err != nil {
		return err
	}
	if what.Destination, err = c.destination(ctx); err != nil {
		return err
	}
	return clearance.MayLeave(ctx, c.s, what)
}

// heldThere lists the commits that the remote has already: those in its listing, and its branches
// as they were last fetched.
func (c *consignment) heldThere(ctx context.Context) ([]name.OID, error) {
	held := []name.OID{c.there.Notes}
	for _, there := range c.there.Sessions {
		held = append(held, there.Journal, there.Archive)
		for _, oid := range there.Held() {
			held = append(held, oid)
		}
	}
	branches, err := c.s.Repo.Refs(ctx, "refs/remotes/"+c.remote.Name+"/")
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	for _, r := range branches {
		held = append(held, r.OID)
	}
	return slices.DeleteFunc(held, func(oid name.OID) bool { return oid == "" }), nil
}
