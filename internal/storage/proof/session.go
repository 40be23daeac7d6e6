package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Session is what refs, journal, notes and tags say about one session. No checkpoint has been read
// yet.
type Session struct {
	Name     name.Session
	Chain    *Chain               // nil: there is no journal
	State    *journal.State       // nil: the journal cannot be folded
	Refs     map[name.ID]name.OID // refs of checkpoints, and the checkpoints in the archive
	Archived map[name.ID]bool     // those of Refs that have no ref of their own
	Tags     []git.RefValue
	Notes    *Notes
	Lost     []name.OID // tips that the journal had in this worktree and does not reach any more
	Findings []Finding  // about the session as a whole

	store   *store.Store
	wasTip  bool                  // the journal was at the present tip before, and left it
	derived map[name.Ref]name.OID // the tags that should exist
	odd     map[name.Ref]name.OID // the tags that are not as derived says
}

// open reads a session. seen are the tips of the journal that this worktree has seen before.
func (v *View) open(ctx context.Context, session name.Session, seen []name.OID) (*Session, error) {
	s := v.store
	p := &Session{Name: session, store: s}
	var reading sync.WaitGroup
	var chainErr, notesErr error
	tip := v.value(name.JournalRef(session))
	if tip != "" { // it uses one and a half processors
		reading.Go(func() { p.Chain, chainErr = ReadChain(ctx, s, session, tip) })
	}
	reading.Go(func() { p.Notes, notesErr = v.notes() })
	if v.fault != "" {
		p.find(RefsGarbled, "packed-refs", v.fault+", so searches do not find all refs")
	}
	p.sort(ctx, v.refsOf(session))
	reading.Wait()
	if err := cmp.Or(chainErr, notesErr); err != nil {
		return nil, err
	}
	if tip == "" {
		if len(p.Refs)+len(seen) == 0 && !slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Kind == ArchiveUnreadable }) {
			return nil, fmt.Errorf("session %q: %w", session, store.ErrNoSession)
		}
		// There is no journal, but this worktree saw one.
		p.Lost = seen
		p.find(JournalDeleted, string(name.JournalRef(session)), fmt.Sprintf("the journal of session %q is gone", session))
		return p, nil
	}
	p.judgeChain(ctx, seen)
	return p, nil
}

// sort sorts the refs of the session into checkpoints and tags.
func (p *Session) sort(ctx context.Context, refs []git.RefValue) {
	p.Refs, p.Archived = p.store.HeldAmong(ctx, p.Name, refs)
	for _, r := range refs {
		if store.IsTag(p.Name, r.Ref) {
			p.Tags = append(p.Tags, r)
		}
		if r.Ref == name.ArchiveRef(p.Name) {
			if _, err := p.store.Members(ctx, r.OID); err != nil && ctx.Err() == nil {
				p.find(ArchiveUnreadable, string(r.Ref), err.Error())
			}
		}
	}
}

// find adds a finding about the session.
func (p *Session) find(kind Kind, object, message string) {
	p.Findings = append(p.Findings, Violated(kind, object, message))
}

// judgeChain adds the findings about the journal. A tip that was seen before and that the journal
// does not reach is lost.
func (p *Session) judgeChain(ctx context.Context, seen []name.OID) {
	p.Findings = append(p.Findings, p.Chain.Breaks...)
	p.State = p.Chain.State
	// The tip itself may have been seen a moment ago, by whoever read the journal to find the session.
	p.wasTip = slices.Contains(p.store.Abandoned(p.Name), p.Chain.Tip)
	for _, tip := range seen {
		if !p.Chain.Has(tip) && !slices.Contains(p.Lost, tip) {
			p.Lost = append(p.Lost, tip)
		}
	}
	if p.State == nil {
		return
	}
	var doubts []journal.Doubt
	var beside sync.WaitGroup
	beside.Go(func() { doubts = p.State.Doubts() })
	p.judgeTagRefs(ctx)
	beside.Wait()
	for _, e := range p.State.Strangers() {
		p.find(JournalForged, string(e.OID), fmt.Sprintf("event %s is of session %q", e.OID.Short(), e.Session))
	}
	for _, d := range doubts {
		p.find(JournalOrder, string(d.Event.OID), fmt.Sprintf("event %s (%s): %s; an event was removed, moved or forged", d.Event.OID.Short(), d.Event.Kind, d.Text))
	}
}

// judgeTagRefs finds the tags that are not as they should be, and reports those that point to no
// checkpoint of the session. The others are reported with their checkpoints, by judgeTags.
func (p *Session) judgeTagRefs(ctx context.Context) {
	p.derived, p.odd = store.DerivedTags(p.State, p.Refs), map[name.Ref]name.OID{}
	for _, tag := range p.Tags {
		if tag.OID != p.derived[tag.Ref] && !p.unfetched(ctx, tag.OID) && !p.isOlder(ctx, tag) {
			p.odd[tag.Ref] = tag.OID
		}
	}
	if len(p.odd) == 0 {
		p.derived = nil // not needed any more
		return
	}
	// A tag on a pruned checkpoint is ignored by everybody. One on a commit that no event names
	// will be right when that commit is adopted.
	held := gather.Set(p.State.Checkpoints(), func(e *journal.Entry) name.OID { return e.Event().Commit })
	for _, oid := range p.Refs {
		held[oid] = true
	}
	for ref, have := range p.odd {
		if p.derived[ref] == "" && !held[have] {
			p.find(TagMoved, string(ref), fmt.Sprintf("%s points at %s, which is not a checkpoint of the session", ref, have.Short()))
		}
	}
}

// isOlder reports whether a tag is on an older checkpoint of a step whose newest one is private, and so
// has no tag. A plain fetch brings the older tag, and would bring it again.
func (p *Session) isOlder(ctx context.Context, tag git.RefValue) bool {
	newest := p.derived[tag.Ref]
	if newest == "" || p.store.Private == nil || !p.isOfStep(tag) {
		return false
	}
	why, err := p.store.Private(ctx, newest)
	return err == nil && why != ""
}

// isOfStep reports whether a tag is on a live milestone of its step.
func (p *Session) isOfStep(tag git.RefValue) bool {
	return slices.ContainsFunc(p.State.Checkpoints(), func(e *journal.Entry) bool {
		return e.Event().Commit == tag.OID && e.Live && e.Milestone && (tag.Ref == name.TagRef(p.Name, e.Step, "") || tag.Ref == name.TagRef(p.Name, e.Step, e.Event().Iteration))
	})
}

// unfetched reports whether a tag is on a checkpoint of the session that this clone has not
// fetched. `git clone` brings tags, but no other refs of checkpoints.
func (p *Session) unfetched(ctx context.Context, commit name.OID) bool {
	c, err := p.store.Repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return false
	}
	told, err := record.ParseMessage(c.Message)
	return err == nil && told.Session == p.Name && p.State.Entry(told.ID) == nil && !p.State.Dead(told.ID) && p.Refs[told.ID] == ""
}

// JudgeLost reports for each lost tip whether the journal was rewound, or replaced by another one.
// If the present tip was seen before, or is an ancestor of the lost one, the journal was rewound.
func (p *Session) JudgeLost(ctx context.Context) error {
	if p.Chain == nil {
		return nil
	}
	for _, tip := range p.Lost {
		kind, what := JournalReplaced, "it was replaced by another"
		lost, err := ReadChain(ctx, p.store, p.Name, tip)
		if err != nil {
			return err
		}
		if p.wasTip || lost.Has(p.Chain.Tip) {
			kind, what = JournalRewound, fmt.Sprintf("it was set back to %s", p.Chain.Tip.Short())
		}
		p.find(kind, string(tip), fmt.Sprintf("the journal was at %s when this worktree last saw it, and no longer contains that: %s", tip.Short(), what))
	}
	return nil
}
