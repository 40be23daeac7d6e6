package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// PlanDelete says what `delete` would remove.
func (s *Service) PlanDelete(ctx context.Context, session string, refs []string) (*Removed, error) {
	_, ids, err := s.doomed(ctx, session, refs)
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// doomed resolves the names of checkpoints to delete, all in one session.
func (s *Service) doomed(ctx context.Context, session string, refs []string) (name.Session, *Removed, error) {
	out := &Removed{Removed: []Labelled{}}
	if len(refs) == 0 {
		return "", out, usage("`git checkpoint list` shows what there is", "name the checkpoints to delete")
	}
	if err := refuseEmpty(refs...); err != nil {
		return "", nil, err
	}
	var in name.Session
	seen := map[name.ID]bool{}
	var commits []name.OID
	for _, ref := range refs {
		f, err := s.resolve(ctx, session, ref)
		if err != nil {
			return "", nil, err
		}
		if in != "" && in != f.session {
			return "", nil, usage("", "%s and %s are in two sessions; delete from one at a time", refs[0], ref)
		}
		if in = f.session; f.entry.Pinned {
			return "", nil, pinnedError(f.entry)
		}
		if !seen[f.entry.Checkpoint] {
			seen[f.entry.Checkpoint] = true
			out.Removed = append(out.Removed, Labelled{f.entry.Checkpoint, f.entry.Label})
			commits = append(commits, f.entry.Event().Commit)
		}
	}
	var err error
	out.Bytes, err = s.onlyHeldBy(ctx, in, seen, commits)
	return in, out, err
}

// onlyHeldBy measures the objects that nothing but these commits reaches.
func (s *Service) onlyHeldBy(ctx context.Context, session name.Session, gone map[name.ID]bool, commits []name.OID) (int64, error) {
	refs, err := s.repo.Refs(ctx)
	if err != nil {
		return 0, classify(err)
	}
	var in strings.Builder
	for _, c := range commits {
		fmt.Fprintf(&in, "%s\n", c)
	}
	for _, r := range s.store.Held(ctx, refs) {
		owner, leaf, ok := name.SplitCheckpointRef(r.Ref)
		if ok && owner == session && (gone[name.ID(leaf)] || leaf == "archive") || r.Ref == name.NotesRef || strings.HasPrefix(string(r.Ref), name.TagRoot+string(session)+"/") {
			continue
		}
		fmt.Fprintf(&in, "^%s\n", r.OID)
	}
	if s.repo.Head.OID != "" {
		fmt.Fprintf(&in, "^%s\n", s.repo.Head.OID)
	}
	res, err := s.repo.Run(ctx, git.Cmd{
		Args:  []string{"rev-list", "--objects", "--disk-usage", "--ignore-missing", "--missing=allow-any", "--stdin"},
		Stdin: strings.NewReader(in.String()),
	})
	if err != nil {
		return 0, nil //nolint:nilerr // a damaged checkpoint can be deleted too; its size is not known
	}
	var bytes int64
	fmt.Sscan(string(res.Stdout), &bytes) //nolint:errcheck // zero when git says nothing
	return bytes, nil
}

// Delete removes checkpoints by name, for good: refs, notes and tags go, and a
// tombstone stays in the journal.
func (s *Service) Delete(ctx context.Context, session string, refs []string) (*Removed, error) {
	in, plan, err := s.doomed(ctx, session, refs)
	if err != nil {
		return nil, err
	}
	ids := make([]name.ID, len(plan.Removed))
	for i, r := range plan.Removed {
		ids[i] = r.ID
	}
	gone, err := s.drop(ctx, in, ids, "deleted", pinnedRefuses)
	if err != nil {
		return nil, err
	}
	plan.Removed = slices.DeleteFunc(plan.Removed, func(l Labelled) bool { return !gone[l.ID] })
	if len(plan.Removed) == 0 {
		return nil, &Error{Kind: KindNotFound, Message: strings.Join(refs, ", ") + ": removed meanwhile"}
	}
	return plan, nil
}

// pinnedRule says what becomes of a checkpoint that is pinned when it is to go: by then,
// and not when that was planned.
type pinnedRule int

const (
	pinnedStays pinnedRule = iota
	pinnedRefuses
	pinnedGoes
)

// drop writes the tombstones of checkpoints and removes their refs. It says which went
// and which were pinned, with false; the rest others have removed.
func (s *Service) drop(ctx context.Context, session name.Session, ids []name.ID, reason string, pinned pinnedRule) (map[name.ID]bool, error) {
	e, err := s.event(journal.KindPrune, session)
	if err != nil {
		return nil, classify(err)
	}
	e.Reason = reason
	s.trace("doomed")
	var gone map[name.ID]bool
	res, err := s.store.Transact(ctx, session, func(_ context.Context, v store.View) (store.Change, error) {
		e, change := e, store.Change{}
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
				return change, pinnedError(entry)
			}
			gone[id] = true
			e.Tombstones = append(e.Tombstones, journal.Tombstone{ID: id, Commit: entry.Event().Commit, Record: entry.Event().Record, Reason: reason})
			change.Remove = append(change.Remove, store.Removal{ID: id})
			change.Notes = append(change.Notes, store.NewNote{Commit: entry.Event().Commit}) // the ref may name another commit
		}
		if len(e.Tombstones) > 0 {
			change.Events = []journal.Event{e}
		}
		return change, nil
	})
	s.trace("dropped")
	for _, w := range res.Warnings {
		s.warn(w)
	}
	return gone, classify(err)
}

func pinnedError(e *journal.Entry) *Error {
	return &Error{
		Kind: KindRefused, Message: e.Label + " is pinned",
		Hints: []string{"`git checkpoint unpin " + string(e.Checkpoint) + "` first"},
	}
}

// PlanDeleteSession says what `session delete` would remove.
func (s *Service) PlanDeleteSession(ctx context.Context, request string) (*Removed, error) {
	_, out, err := s.wholeSession(ctx, request)
	return out, err
}

func (s *Service) wholeSession(ctx context.Context, request string) (name.Session, *Removed, error) {
	session, err := s.mustNamed(request)
	if err != nil {
		return "", nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return "", nil, err
	}
	out := &Removed{Removed: []Labelled{}}
	gone := map[name.ID]bool{}
	var commits []name.OID
	for _, c := range st.Checkpoints() {
		if !c.Dead {
			gone[c.Checkpoint] = true
			commits = append(commits, c.Event().Commit)
			out.Removed = append(out.Removed, Labelled{c.Checkpoint, c.Label})
		}
	}
	out.Bytes, err = s.onlyHeldBy(ctx, session, gone, commits)
	return session, out, err
}

// DeleteSession tombstones every checkpoint of a session, pinned ones too, and
// keeps its journal.
func (s *Service) DeleteSession(ctx context.Context, request string) (*Removed, error) {
	session, out, err := s.wholeSession(ctx, request)
	if err != nil {
		return nil, err
	}
	ids := make([]name.ID, len(out.Removed))
	for i, r := range out.Removed {
		ids[i] = r.ID
	}
	if _, err := s.drop(ctx, session, ids, "session deleted", pinnedGoes); err != nil {
		return nil, err
	}
	return out, s.deactivate(session)
}

// Pin keeps checkpoints from every prune.
func (s *Service) Pin(ctx context.Context, session string, refs []string) ([]Marked, error) {
	return s.mark(ctx, journal.KindPin, session, refs)
}

// Unpin lets prunes have them again.
func (s *Service) Unpin(ctx context.Context, session string, refs []string) ([]Marked, error) {
	return s.mark(ctx, journal.KindUnpin, session, refs)
}

func (s *Service) mark(ctx context.Context, kind journal.Kind, session string, refs []string) ([]Marked, error) {
	if len(refs) == 0 {
		refs = []string{"@"}
	}
	if err := refuseEmpty(refs...); err != nil {
		return nil, err
	}
	bySession, named := map[name.Session][]journal.Event{}, map[name.ID]bool{}
	out := []Marked{}
	for _, ref := range refs {
		f, err := s.resolve(ctx, session, ref)
		if err != nil {
			return nil, err
		}
		if named[f.entry.Checkpoint] {
			continue
		}
		named[f.entry.Checkpoint] = true
		pinned := kind == journal.KindPin
		out = append(out, Marked{Labelled{f.entry.Checkpoint, f.entry.Label}, f.session, pinned, f.entry.Pinned != pinned})
		if f.entry.Pinned == pinned {
			continue // it is so already
		}
		e, err := s.event(kind, f.session)
		if err != nil {
			return nil, classify(err)
		}
		e.Checkpoint, e.Label = f.entry.Checkpoint, f.entry.Label
		bySession[f.session] = append(bySession[f.session], e)
	}
	for in, events := range bySession {
		_, err := s.store.Transact(ctx, in, func(_ context.Context, v store.View) (store.Change, error) {
			for _, e := range events {
				if v.State == nil || v.State.Dead(e.Checkpoint) {
					return store.Change{}, &Error{Kind: KindNotFound, Message: e.Label + " was removed meanwhile"}
				}
			}
			return store.Change{Events: events}, nil
		})
		if err != nil {
			return nil, classify(err)
		}
	}
	return out, nil
}

// append writes events to a session's journal.
func (s *Service) append(ctx context.Context, session name.Session, events ...journal.Event) error {
	_, err := s.store.Transact(ctx, session, func(context.Context, store.View) (store.Change, error) {
		return store.Change{Events: events}, nil
	})
	return classify(err)
}
