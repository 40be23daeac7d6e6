package proof

import (
	"context"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// View is a snapshot of the refs and notes of a repository. All sessions that are opened from it
// are proven against the same state, and the notes are read once for all of them.
type View struct {
	store *store.Store
	refs  []git.RefValue         // sorted by name
	fault string                 // what is wrong with packed-refs; empty: nothing
	notes func() (*Notes, error) // reads the notes at the first call
}

// ReadView reads the refs of one session, and those of all if session is empty.
func ReadView(ctx context.Context, s *store.Store, session name.Session) (*View, error) {
	below := ""
	if session != "" {
		below = string(session) + "/"
	}
	// Refs of checkpoints are read before the notes ref. A create that runs at the same time then
	// may have a note and no ref, which is harmless. The other way round its note would be reported
	// as missing.
	refs, fault, err := s.Repo.Refs.ListAndFault(ctx, name.CheckpointRoot+below, name.TagRoot+below, string(name.NotesRef))
	if err != nil {
		return nil, err
	}
	v := &View{store: s, refs: refs, fault: fault}
	v.notes = sync.OnceValues(func() (*Notes, error) { return readNotes(ctx, s, v.value(name.NotesRef)) })
	return v, nil
}

// Sessions returns the sessions that have a checkpoint, a journal or an archive, sorted by name.
func (v *View) Sessions() []name.Session {
	var all []name.Session
	for _, r := range v.refsBelow(name.CheckpointRoot) { // sorted, so those of one session stand together
		if session, _, ok := store.SplitRef(r.Ref); ok && (len(all) == 0 || all[len(all)-1] != session) {
			all = append(all, session)
		}
	}
	return all
}

// refsBelow returns the refs whose names begin with prefix.
func (v *View) refsBelow(prefix string) []git.RefValue {
	from, _ := slices.BinarySearchFunc(v.refs, prefix, func(r git.RefValue, p string) int { return strings.Compare(string(r.Ref), p) })
	to := from
	for to < len(v.refs) && strings.HasPrefix(string(v.refs[to].Ref), prefix) {
		to++
	}
	return v.refs[from:to]
}

// refsOf returns the refs of a session.
func (v *View) refsOf(session name.Session) []git.RefValue {
	below := string(session) + "/"
	return slices.Concat(v.refsBelow(name.CheckpointRoot+below), v.refsBelow(name.TagRoot+below))
}

// value returns the object that a ref points to, or "" if there is no such ref.
func (v *View) value(ref name.Ref) name.OID {
	if from := v.refsBelow(string(ref)); len(from) > 0 && from[0].Ref == ref {
		return from[0].OID
	}
	return ""
}

// Open reads and proves a session. If nothing of it exists and this worktree has never seen it, the
// error is store.ErrNoSession.
func (v *View) Open(ctx context.Context, session name.Session) (*Session, error) {
	p, err := v.open(ctx, session, v.store.Seen(session))
	if err != nil || len(p.Lost)+len(p.Findings) == 0 {
		return p, err
	}
	// This worktree may have seen a tip that is newer than the view. Then nothing is lost: read the
	// refs again.
	seen := v.store.Seen(session) // before the refs are read
	now, err := ReadView(ctx, v.store, session)
	// The refs have not changed, so the loss is real.
	if err != nil || slices.Equal(v.refsOf(session), now.refsOf(session)) {
		return p, err
	}
	return now.open(ctx, session, seen)
}
