package checkpoint

import (
	"context"
	"fmt"
	"maps"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// ArchiveSession folds the refs of a session that is closed into one, from which all of
// it stays readable. "" is the active one.
func (s *Service) ArchiveSession(ctx context.Context, request string) (*Manifest, error) {
	session, err := s.mustNamed(request)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	if !isClosed(st.Status) {
		return nil, &Error{
			Kind: KindRefused, Message: fmt.Sprintf("session %q is not closed", session),
			Hints: []string{"`git checkpoint session close " + string(session) + "` first"},
		}
	}
	e, err := s.event(journal.KindArchive, session)
	if err != nil {
		return nil, classify(err)
	}
	res, err := s.store.Transact(ctx, session, func(ctx context.Context, v store.View) (store.Change, error) {
		change := store.Change{}
		if !isClosed(v.State.Status) {
			return change, &Error{Kind: KindRefused, Message: fmt.Sprintf("session %q was opened again meanwhile", session)}
		}
		var err error
		if change.Archive, err = s.toArchive(ctx, v.State); err != nil || len(change.Archive) == 0 {
			return store.Change{}, err
		}
		e := e
		e.Status = v.State.Status
		change.Events = []journal.Event{e}
		return change, nil
	})
	if err != nil {
		return nil, classify(err)
	}
	for _, w := range res.Warnings {
		s.warn(w)
	}
	if err := s.deactivate(session); err != nil {
		return nil, err
	}
	return s.ShowSession(ctx, string(session))
}

// toArchive lists the checkpoints that are here as the journal names them and not in the
// archive yet. What lacks its commit stays a ref, for validate to find.
func (s *Service) toArchive(ctx context.Context, st *journal.State) (map[name.ID]name.OID, error) {
	held, archived, err := s.store.HeldOf(ctx, st.Session)
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
	missing, err := s.repo.Batch().Missing(ctx, commits)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ name.ID, commit name.OID) bool { _, gone := missing[commit]; return gone })
	return found, nil
}
