package retain

// This file removes and pins checkpoints. Removing means: the journal gets a tombstone, refs, notes
// and tags are deleted, and git gc deletes the objects later.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// PlanDelete returns the removal of some checkpoints. They must be in one session, and not pinned.
func PlanDelete(ctx context.Context, s *checkpoint.Sessions, session string, refs []string) (*Removed, error) {
	if len(refs) == 0 {
		return nil, checkpoint.Usage("`git checkpoint list` shows the checkpoints", "name the checkpoints to delete")
	}
	if err := checkpoint.RefuseEmptyNames(refs...); err != nil {
		return nil, err
	}
	var in *journal.State
	var entries []*journal.Entry
	for _, ref := range refs {
		f, err := s.ResolveOne(ctx, session, ref)
		if err != nil {
			return nil, err
		}
		// A transaction is about one session.
		if in != nil && in.Session != f.Session {
			return nil, checkpoint.Usage("", "%s and %s belong to different sessions; delete from one session at a time", refs[0], ref)
		}
		if in = f.State; f.Entry.Pinned {
			return nil, pinnedError(f.State, f.Entry)
		}
		entries = append(entries, f.Entry)
	}
	return removing(ctx, s.Store, in, entries)
}

// PlanLine returns the removal of the live checkpoints that only the line of ref has.
func PlanLine(ctx context.Context, s *checkpoint.Sessions, session, ref string) (*Removed, error) {
	f, err := s.ResolveOne(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	head := checkpoint.LineOf(f.State, f.Entry)
	if !slices.Contains(f.State.Heads(), head) {
		e := checkpoint.Failure(checkpoint.KindRefused, "", "several lines have %s; name a step that only one has", checkpoint.Said(ctx, s.Store, f.State, head))
		for _, h := range checkpoint.HeadsOf(ctx, s.Store, f.State) {
			e.Hints = append(e.Hints, fmt.Sprintf("`git checkpoint delete --line %s`: %s", h.Number, h.Description()))
		}
		return nil, e
	}
	only := f.State.OnLine(head)
	for _, other := range f.State.Heads() {
		if on := f.State.OnLine(other); other != head && !on[head.Place] {
			for i := range only {
				only[i] = only[i] && !on[i]
			}
		}
	}
	var entries []*journal.Entry
	for i, c := range f.State.Standings() {
		if e := f.State.At(i); only[i] && c.Live {
			if entries = append(entries, e); c.Pinned {
				return nil, pinnedError(f.State, e)
			}
		}
	}
	if len(f.State.Heads()) < 2 || len(entries) == 0 {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint session delete` removes all checkpoints of a session", "session %q has no other line", f.Session)
	}
	return removing(ctx, s.Store, f.State, entries)
}

// removing returns what the removal of checkpoints of a session removes. It names each once, and no
// pruned one.
func removing(ctx context.Context, s *store.Store, st *journal.State, entries []*journal.Entry) (*Removed, error) {
	out := &Removed{Removed: []checkpoint.Labelled{}, session: st.Session}
	gone := map[name.ID]bool{}
	var commits []name.OID
	for _, e := range entries {
		if !e.Dead && !gone[e.Checkpoint] {
			gone[e.Checkpoint] = true
			one := checkpoint.Labelled{ID: e.Checkpoint, Label: e.Label, Mention: checkpoint.Mention{Name: checkpoint.CalledBy(e)}}
			if len(out.Removed) < saidOf {
				one = checkpoint.LabelledOf(ctx, s, st, e)
			}
			out.Removed = append(out.Removed, one)
			commits = append(commits, e.Event().Commit)
		}
	}
	var err error
	out.Bytes, err = onlyHeldBy(ctx, s, st.Session, gone, commits)
	return out, err
}

// onlyHeldBy returns the size on disk of the objects that only these commits reach. All other refs
// count as holders, except those that the removal takes away or rewrites: refs of gone, the
// archive, notes and tags of the session.
func onlyHeldBy(ctx context.Context, s *store.Store, session name.Session, gone map[name.ID]bool, commits []name.OID) (int64, error) {
	refs, err := s.Repo.Refs.List(ctx)
	if err != nil {
		return 0, err
	}
	var others []name.OID
	for _, r := range s.Held(ctx, refs) {
		owner, leaf, ok := name.SplitCheckpointRef(r.Ref)
		if ok && owner == session && (gone[name.ID(leaf)] || leaf == "archive") || r.Ref == name.NotesRef || strings.HasPrefix(string(r.Ref), name.TagRoot+string(session)+"/") {
			continue
		}
		others = append(others, r.OID)
	}
	if s.Repo.Head.OID != "" {
		others = append(others, s.Repo.Head.OID)
	}
	res, err := s.Repo.Run(ctx, git.Cmd{
		Args:  []string{"rev-list", "--objects", "--disk-usage", "--ignore-missing", "--missing=allow-any", "--stdin"},
		Stdin: git.Revisions(commits, others),
	})
	if err != nil {
		return 0, nil //nolint:nilerr // a damaged checkpoint can be deleted too; its size is not known
	}
	var bytes int64
	fmt.Sscan(string(res.Stdout), &bytes) //nolint:errcheck // zero when git says nothing
	return bytes, nil
}

// pinnedRule says what happens if a checkpoint is pinned when it is removed. It may have been
// pinned after the removal was planned.
type pinnedRule int

// With pinnedStays it stays, with pinnedRefuses nothing is removed, with PinnedGoes it is removed.
const (
	pinnedStays pinnedRule = iota
	pinnedRefuses
	PinnedGoes
)

// Drop removes checkpoints in one transaction: it writes a tombstone for each and deletes its refs.
// The result maps those that were removed to true, and pinned ones that stay to false. Checkpoints
// that another process removed before are not in it.
func Drop(ctx context.Context, s *checkpoint.Service, session name.Session, ids []name.ID, reason string, pinned pinnedRule) (map[name.ID]bool, error) {
	e, err := checkpoint.NewEvent(s.Store, journal.KindPrune, session)
	if err != nil {
		return nil, err
	}
	e.Reason = reason
	s.Trace("doomed")
	var gone map[name.ID]bool
	_, err = checkpoint.Transact(ctx, s.Store, session, func(_ context.Context, v store.View) (store.Change, error) {
		// A copy for each try: the transaction may call this function several times.
		e, change := e, store.Change{}
		// Pinned and removed are judged by the journal as it is now.
		gone = map[name.ID]bool{}
		for _, id := range ids {
			entry := v.State.Entry(id)
			if entry == nil || entry.Dead {
				continue
			}
			if entry.Pinned && pinned == pinnedStays {
				gone[id] = false
				continue
			}
			if entry.Pinned && pinned == pinnedRefuses {
				return change, pinnedError(v.State, entry)
			}
			gone[id] = true
			e.Tombstones = append(e.Tombstones, journal.Tombstone{ID: id, Commit: entry.Event().Commit, Record: entry.Event().Record, Reason: reason})
			change.Remove = append(change.Remove, store.Removal{ID: id})
			// A NewNote without a blob removes the note. It is on the commit that the journal
			// names; a damaged ref may name another one.
			change.Notes = append(change.Notes, store.NewNote{Commit: entry.Event().Commit})
		}
		if len(e.Tombstones) > 0 {
			change.Events = []journal.Event{e}
		}
		return change, nil
	})
	s.Trace("dropped")
	if err == nil {
		checkpoint.SweepOutside(ctx, s.Rules)
	}
	return gone, err
}

// pinnedError returns the error for a checkpoint that cannot be removed because it is pinned.
func pinnedError(st *journal.State, e *journal.Entry) *checkpoint.Error {
	return checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint unpin "+checkpoint.NameTo(st, e)+"` first", "%s is pinned", checkpoint.NameTo(st, e))
}

// WholeSession returns the removal of all checkpoints of a session. The journal stays.
func WholeSession(ctx context.Context, s *checkpoint.Sessions, request string) (*Removed, error) {
	session, err := s.RequireSession(ctx, request)
	if err != nil {
		return nil, err
	}
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		return nil, err
	}
	out, err := removing(ctx, s.Store, st, st.Checkpoints())
	out.whole = true
	return out, err
}

// Mark protects checkpoints from being pruned or deleted (KindPin), or ends that (KindUnpin). It writes an event
// for each checkpoint that does not have that state yet, in one transaction for each session. No refs means
// the current checkpoint.
func Mark(ctx context.Context, s *checkpoint.Sessions, kind journal.Kind, session string, refs []string) ([]Marked, error) {
	if len(refs) == 0 {
		refs = []string{"@"}
	}
	if err := checkpoint.RefuseEmptyNames(refs...); err != nil {
		return nil, err
	}
	bySession, named := map[name.Session][]journal.Event{}, map[name.ID]bool{}
	out := []Marked{}
	for _, ref := range refs {
		f, err := s.Resolve(ctx, session, ref)
		if err != nil {
			return nil, err
		}
		if named[f.Entry.Checkpoint] {
			continue
		}
		named[f.Entry.Checkpoint] = true
		pinned := kind == journal.KindPin
		out = append(out, Marked{checkpoint.LabelledOf(ctx, s.Store, f.State, f.Entry), f.Session, pinned, f.Entry.Pinned != pinned})
		if f.Entry.Pinned == pinned {
			continue // nothing to write
		}
		e, err := checkpoint.NewEvent(s.Store, kind, f.Session)
		if err != nil {
			return nil, err
		}
		e.Checkpoint, e.Label = f.Entry.Checkpoint, f.Entry.Label
		bySession[f.Session] = append(bySession[f.Session], e)
	}
	for in, events := range bySession {
		_, err := s.Store.Transact(ctx, in, func(_ context.Context, v store.View) (store.Change, error) {
			// A pin of a pruned checkpoint would promise something that cannot be kept.
			for _, e := range events {
				if v.State == nil || v.State.Dead(e.Checkpoint) {
					return store.Change{}, checkpoint.Failure(checkpoint.KindNotFound, "", "%s was removed in the meantime", e.Label)
				}
			}
			return store.Change{Events: events}, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// saidOf is for how many checkpoints the message is read.
const saidOf = 20
