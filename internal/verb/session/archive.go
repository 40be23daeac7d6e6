package session

import (
	"context"
	"maps"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
)

// Archive folds the refs of a closed session into one archive commit, from which all of it
// stays readable. An empty request means the active session. See docs/format.md, Archives.
func Archive(ctx context.Context, s *checkpoint.Sessions, request string) (*Manifest, error) {
	session, err := s.RequireSession(ctx, request)
	if err != nil {
		return nil, err
	}
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		return nil, err
	}
	if !checkpoint.IsClosed(st.Status) {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint session close "+string(session)+"` first", "session %q is not closed", session)
	}
	// The event is made outside the transaction, which may call the function several times.
	e, err := checkpoint.NewEvent(s.Store, journal.KindArchive, session)
	if err != nil {
		return nil, err
	}
	_, err = checkpoint.Transact(ctx, s.Store, session, func(ctx context.Context, v store.View) (store.Change, error) {
		change := store.Change{}
		// Another process may have resumed the session after the check above.
		if !checkpoint.IsClosed(v.State.Status) {
			return change, checkpoint.Failure(checkpoint.KindRefused, "", "session %q was reopened in the meantime", session)
		}
		var err error
		if change.Archive, err = toArchive(ctx, s.Store, v.State); err != nil || len(change.Archive) == 0 {
			return store.Change{}, err
		}
		// Each attempt of the transaction changes its own copy.
		e := e
		e.Status = v.State.Status
		change.Events = []journal.Event{e}
		return change, nil
	})
	if err != nil {
		return nil, err
	}
	// A session in an archive is not meant to be continued here.
	if err := checkpoint.Deactivate(s.Store, session); err != nil {
		return nil, err
	}
	return Show(ctx, s, string(session))
}

// toArchive returns the checkpoints to archive: those that are here with the commit that
// the journal names, and not archived yet. One whose commit is missing keeps its ref, so
// that validate finds it.
func toArchive(ctx context.Context, s *store.Store, st *journal.State) (map[name.ID]name.OID, error) {
	held, archived, err := s.HeldOf(ctx, st.Session)
	if err != nil {
		return nil, err
	}
	found := map[name.ID]name.OID{}
	var commits []name.OID
	for _, e := range st.Checkpoints() {
		if !e.Dead && held[e.Checkpoint] == e.Event().Commit && !archived[e.Checkpoint] {
			found[e.Checkpoint] = e.Event().Commit
			commits = append(commits, e.Event().Commit)
		}
	}
	if len(commits) == 0 {
		return nil, nil
	}
	missing, err := s.Repo.Objects.Batch().Missing(ctx, commits)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ name.ID, commit name.OID) bool { _, gone := missing[commit]; return gone })
	return found, nil
}
