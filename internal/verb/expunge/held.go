package expunge

// What the user's own refs, index and reflogs reach cannot be removed by this program. It
// is reported, because the content is not gone while they hold it.

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// theirs returns the user's refs, and HEAD.
func (p *Plan) theirs(ctx context.Context) ([]git.RefValue, error) {
	refs, err := p.s.Repo.Refs.List(ctx)
	if err != nil {
		return nil, err
	}
	refs = slices.DeleteFunc(refs, func(r git.RefValue) bool { return r.Ref.IsOurs() })
	if p.s.Repo.Head.OID != "" {
		refs = append(refs, git.RefValue{Ref: "HEAD", OID: p.s.Repo.Head.OID})
	}
	return refs, nil
}

// reaches reports whether the goal is reachable from some commits and not from others. more
// are further options of rev-list, such as --reflog.
func (p *Plan) reaches(ctx context.Context, from, not []name.OID, more ...string) (bool, error) {
	hit := false
	err := clearance.Reachable(ctx, p.s.Repo, from, not, func(oid name.OID, _ string) { hit = hit || p.goal.hit(oid) }, more...)
	return hit, err
}

// dropped reports whether a commit on which HEAD was is left out of a replacement's
// parents. That is so if the goal is in its history and none of the user's refs reaches it
// there.
func (p *Plan) dropped(ctx context.Context, head name.OID) bool {
	if head == "" {
		return false
	}
	if p.heads == nil {
		p.heads = map[name.OID]bool{}
		refs, err := p.theirs(ctx)
		if err != nil {
			return false
		}
		for _, r := range refs {
			p.user = append(p.user, r.OID)
		}
	}
	drop, known := p.heads[head]
	if !known {
		drop, _ = p.reaches(ctx, []name.OID{head}, p.user) //nolint:errcheck // a commit that cannot be read stays a parent
		p.heads[head] = drop
	}
	return drop
}

// survey completes the plan for showing: what is rewritten, and what else holds the goal.
func (p *Plan) survey(ctx context.Context) error {
	a := p.answer
	// Later safety checkpoints count in the levels of their own session only.
	a.DryRun = true
	rewritten := map[name.ID]bool{}
	for _, r := range p.sessions {
		for _, o := range r.old {
			a.Checkpoints = append(a.Checkpoints, Rewritten{ID: o.entry.Checkpoint, Label: o.entry.Label, Session: r.session, Holds: o.places(), Mention: checkpoint.LabelledOf(ctx, p.s.Store, r.state, o.entry).Mention})
			rewritten[o.entry.Checkpoint] = o.holds
			a.Objects = append(a.Objects, o.blobs()...)
		}
		// The undo levels whose safety checkpoint is rewritten.
		a.UndoLevels += gather.Count(r.state.Rollbacks, func(e *journal.Event) bool { return rewritten[e.Safety] })
		if err := r.inJournal(ctx); err != nil {
			return err
		}
	}
	slices.Sort(a.Objects)
	a.Objects = slices.Compact(a.Objects)
	for _, c := range p.copies {
		if c.Ours {
			a.Copies = append(a.Copies, c.Name)
		} else {
			a.Kept = append(a.Kept, c.Name+" contains it, and is "+c.Kind.What)
		}
	}
	slices.Sort(a.Kept)
	a.Kept = slices.Compact(a.Kept)
	return p.yours(ctx)
}

// inJournal lists events with the secret. They cannot be rewritten: each event's id proves
// all events before it, and other clones have them.
func (r *rewriting) inJournal(ctx context.Context) error {
	found, err := r.plan.desk.ScanOutgoing(ctx, []name.OID{r.tip}, nil)
	if err != nil {
		return err
	}
	for _, f := range found.Found {
		if r.plan.goal.secrets[f.Fingerprint] {
			r.plan.answer.Kept = append(r.plan.answer.Kept, fmt.Sprintf("event %s of session %s contains it, and the journal cannot be rewritten", f.OID.Short(), r.session))
		}
	}
	return nil
}

// yours lists what of the user's holds the goal. The refs are looked at one by one only if
// all of them together reach it.
func (p *Plan) yours(ctx context.Context) error {
	refs, err := p.theirs(ctx)
	if err != nil {
		return err
	}
	all := gather.List(refs, func(r git.RefValue) name.OID { return r.OID })
	held, err := p.reaches(ctx, all, nil)
	if err != nil {
		return err
	}
	// Usually nothing of the user's holds it, so one walk over everything is enough.
	if held {
		for _, r := range refs {
			one, err := p.reaches(ctx, []name.OID{r.OID}, nil)
			if err != nil {
				return err
			}
			if one {
				p.answer.Yours = append(p.answer.Yours, string(r.Ref))
			}
		}
	}
	for _, beside := range []struct{ flag, what string }{{"--indexed-objects", "the index"}, {"--reflog", "reflogs"}} {
		found, err := p.reaches(ctx, nil, all, beside.flag)
		if err != nil {
			return err
		}
		if found {
			p.answer.Yours = append(p.answer.Yours, beside.what)
		}
	}
	return nil
}

// unfinished reports whether an earlier expunge was interrupted, so that dead checkpoints
// still have refs. There is work to do then even if nothing is found.
func (p *Plan) unfinished() bool {
	return slices.ContainsFunc(p.sessions, func(r *rewriting) bool {
		return slices.ContainsFunc(r.state.Checkpoints(), func(e *journal.Entry) bool { return e.Dead && r.held[e.Checkpoint] != "" })
	})
}
