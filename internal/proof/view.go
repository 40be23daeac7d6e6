package proof

import (
	"context"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// View is the refs and notes of a repository as they were at one moment, which the proofs
// of its sessions start from.
type View struct {
	store *store.Store
	refs  []git.RefValue // sorted
	fault string         // of the packed refs
	notes func() (*Notes, error)
}

// Look looks at all sessions.
func Look(ctx context.Context, s *store.Store) (*View, error) { return look(ctx, s, "") }

// LookAt looks at one session.
func LookAt(ctx context.Context, s *store.Store, session name.Session) (*View, error) {
	return look(ctx, s, string(session)+"/")
}

func look(ctx context.Context, s *store.Store, below string) (*View, error) {
	// The notes come last: what is written meanwhile may have a note and no ref, and not
	// the other way round.
	refs, fault, err := s.Repo.RefsAndFault(ctx, name.CheckpointRoot+below, name.TagRoot+below, string(name.NotesRef))
	if err != nil {
		return nil, err
	}
	v := &View{store: s, refs: refs, fault: fault}
	v.notes = sync.OnceValues(func() (*Notes, error) { return readNotes(ctx, s, v.value(name.NotesRef)) })
	return v, nil
}

// Sessions are those that have a checkpoint, a journal or an archive, by name.
func (v *View) Sessions() []name.Session {
	var all []name.Session
	known := name.CheckpointRoot // where the last one's refs begin
	for _, r := range v.below(name.CheckpointRoot) {
		if len(all) > 0 && strings.HasPrefix(string(r.Ref), known) {
			continue
		}
		if session, _, ok := store.SplitRef(r.Ref); ok {
			all, known = append(all, session), name.CheckpointRoot+string(session)+"/"
		}
	}
	return all
}

// below gives the refs that begin so.
func (v *View) below(prefix string) []git.RefValue {
	from, _ := slices.BinarySearchFunc(v.refs, prefix, func(r git.RefValue, p string) int { return strings.Compare(string(r.Ref), p) })
	n, _ := slices.BinarySearchFunc(v.refs[from:], prefix, func(r git.RefValue, p string) int {
		if strings.HasPrefix(string(r.Ref), p) {
			return -1
		}
		return 1
	})
	return v.refs[from : from+n]
}

// of gives the refs of a session.
func (v *View) of(session name.Session) []git.RefValue {
	below := string(session) + "/"
	return slices.Concat(v.below(name.CheckpointRoot+below), v.below(name.TagRoot+below))
}

// value is what a ref points at, "" when it is not there.
func (v *View) value(ref name.Ref) name.OID {
	if from := v.below(string(ref)); len(from) > 0 && from[0].Ref == ref {
		return from[0].OID
	}
	return ""
}

// Open reads a session. One of which there is nothing at all, and was nothing, is
// store.ErrNoSession.
func (v *View) Open(ctx context.Context, session name.Session) (*Session, error) {
	p, err := v.open(ctx, session, func() []name.OID { return v.store.Seen(session) })
	if err != nil || len(p.Lost)+len(p.Findings) == 0 {
		return p, err
	}
	// What this worktree has seen may be younger than the view, and then nothing is lost.
	seen := v.store.Seen(session) // before the refs
	now, err := LookAt(ctx, v.store, session)
	if err != nil || slices.Equal(v.of(session), now.of(session)) {
		return p, err
	}
	return now.open(ctx, session, func() []name.OID { return seen })
}
