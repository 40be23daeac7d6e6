package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// AppendEvents writes events to a session's journal.
func (s *Service) AppendEvents(ctx context.Context, session name.Session, events ...journal.Event) error {
	_, err := s.Store.Transact(ctx, session, func(context.Context, store.View) (store.Change, error) {
		return store.Change{Events: events}, nil
	})
	return Classify(err)
}

// StatusOpen is the status of a session that is neither closed nor paused.
const StatusOpen = "in_progress"

// NamedSession is the session that the request, the environment, the worktree or the
// configuration names, in this order; empty when none does.
func (s *Service) NamedSession(request string) (name.Session, error) {
	if request == "" {
		request, _ = s.Settings.Get("checkpoint.session")
		if v := lookupEnv(s.Env, "GIT_CHECKPOINT_SESSION"); v != "" {
			request = v
		} else if active, err := s.Store.ActiveSession(); err == nil && active != "" {
			return active, nil
		}
	}
	if request == "" {
		return "", nil
	}
	session, err := name.ParseSession(request)
	if err != nil {
		return "", Usage("", "%v", err)
	}
	return session, nil
}

// ChooseSession is for what only reads: without a name it takes the session of
// the newest event.
func (s *Service) ChooseSession(ctx context.Context, request string) (name.Session, error) {
	session, err := s.NamedSession(request)
	if err != nil || session != "" {
		return session, err
	}
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return "", Classify(err)
	}
	var newest *journal.State
	for _, info := range sessions {
		st, err := s.Store.State(ctx, info.Session)
		if err == nil && (newest == nil || st.UpdatedAt.After(newest.UpdatedAt)) {
			newest = st
		}
	}
	if newest != nil {
		return newest.Session, nil
	}
	if len(sessions) > 0 {
		return sessions[0].Session, nil
	}
	return "", &Error{
		Kind: KindNotFound, Message: "there is no session yet",
		Hints: []string{"`git checkpoint create -m MESSAGE` starts one, named after the branch"},
	}
}

// State folds the journal of a session that must exist.
func (s *Service) State(ctx context.Context, session name.Session) (*journal.State, error) {
	st, err := s.Store.State(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return nil, s.UnknownSessionError(ctx, session)
	}
	return st, Classify(err)
}

// UnknownSessionError says that there is no such session, and which names are near.
func (s *Service) UnknownSessionError(ctx context.Context, session name.Session) error {
	e := &Error{Kind: KindNotFound, Message: fmt.Sprintf("no such session: %q", name.Clip(string(session), name.Said))}
	if sessions, _, err := s.Store.Sessions(ctx); err == nil {
		var names []string
		for _, info := range sessions {
			names = append(names, string(info.Session))
		}
		if near := nearest(string(session), names); len(near) > 0 {
			e.Hints = append(e.Hints, "did you mean "+strings.Join(near, ", ")+"?")
		}
	}
	e.Hints = append(e.Hints, "`git checkpoint session list` shows the sessions")
	return e
}

// NewStart begins a session.
func (s *Service) NewStart(session name.Session, workflow, topic, branch string) (journal.Event, error) {
	e, err := s.NewEvent(journal.KindStart, session)
	e.Workflow, e.Topic, e.Branch = workflow, topic, branch
	return e, err
}

// ModeOwnBranch marks the start of a session that owns its branch.
const ModeOwnBranch = "own-branch"

// Choose makes a session the active one of this worktree because a person said so: an agent that works
// here then works in that session.
func Choose(s *Service, session name.Session) error {
	if err := s.Store.SetActiveSession(session); err != nil {
		return Classify(err)
	}
	if err := s.Forget(resumedFile); err != nil {
		return err
	}
	return s.Remember(chosenFile, session)
}

// ChooseResumed is Choose for a session that a person goes on with. A document that belongs
// elsewhere may lead away from it; it may not from one that was started or switched to.
func ChooseResumed(s *Service, session name.Session) error {
	if err := Choose(s, session); err != nil {
		return err
	}
	return s.Remember(resumedFile, session)
}

// IsFixed reports whether a person started the session or switched to it.
func IsFixed(s *Service, session name.Session) bool {
	var resumed name.Session
	known, err := s.Recall(resumedFile, &resumed)
	return IsChosen(s, session) && (err != nil || !known || resumed != session)
}

// Adopt makes a session the active one without a person's word.
func Adopt(s *Service, session name.Session) error {
	if err := s.Store.SetActiveSession(session); err != nil {
		return Classify(err)
	}
	return s.Forget(chosenFile)
}

// IsChosen reports whether a person made the session the active one.
func IsChosen(s *Service, session name.Session) bool {
	var chosen name.Session
	known, err := s.Recall(chosenFile, &chosen)
	return err == nil && known && chosen == session
}

// OwnsBranch reports whether rollbacks of a session move its branch by default.
func OwnsBranch(st *journal.State) bool {
	return st.Started != nil && st.Started.Mode == ModeOwnBranch
}

// IsClosed reports whether a session with this status is over.
func IsClosed(status string) bool {
	return status == "complete" || status == "failed" || status == "abandoned"
}

// Deactivate makes no session active, when this one is.
func (s *Service) Deactivate(session name.Session) error {
	if active, err := s.Store.ActiveSession(); err == nil && active == session {
		return Classify(s.Store.ClearActiveSession())
	}
	return nil
}

// RequireSession is for commands that change a session: it has to be named or active.
func (s *Service) RequireSession(request string) (name.Session, error) {
	session, err := s.NamedSession(request)
	if err == nil && session == "" {
		return "", Usage("name the session, or `git checkpoint session switch NAME` first", "no session is active here")
	}
	return session, err
}
