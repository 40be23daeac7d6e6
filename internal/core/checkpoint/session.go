package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Append appends an event to a session's journal, after fill has set what its kind needs. It starts
// the journal if there is none.
func Append(ctx context.Context, s *store.Store, session name.Session, kind journal.Kind, fill func(*journal.Event)) error {
	e, err := NewEvent(s, kind, session)
	if err == nil {
		fill(&e)
		_, err = s.Transact(ctx, session, func(context.Context, store.View) (store.Change, error) {
			return store.Change{Events: []journal.Event{e}}, nil
		})
	}
	return err
}

// Transact is Store.Transact for a change that adds or removes checkpoints: it prints the warnings
// of the result and classifies the error.
func Transact(ctx context.Context, s *store.Store, session name.Session, build func(context.Context, store.View) (store.Change, error)) (store.Result, error) {
	res, err := s.Transact(ctx, session, build)
	for _, w := range res.Warnings {
		s.Warn(w)
	}
	return res, err
}

// StatusPaused is the status of a session that waits for a person.
const StatusPaused = "paused"

// StatusOpen is the status of a session that is neither closed nor paused, and of one that never
// had a status.
const StatusOpen = "in_progress"

// NamedSession returns the session that is named by, in this order, the request,
// GIT_CHECKPOINT_SESSION, the worktree's active session if somebody chose it, checkpoint.session in the
// configuration, or the active session if that goes on on this branch. It returns "" when none of them is set. The session need
// not exist.
func (s *Sessions) NamedSession(ctx context.Context, request string) (name.Session, error) {
	if request == "" {
		request, _ = s.Rules.Settings.Get("checkpoint.session")
		if v := s.Rules.Settings.Getenv("GIT_CHECKPOINT_SESSION"); v != "" {
			request = v
		} else if active, err := s.Store.ActiveSession(); err == nil && active != "" {
			chosen := request != "" && (IsChosen(s.Repo, active) || stays(ctx, s.Store, active))
			if (request == "" || chosen) && s.isHere(ctx, active) {
				return active, nil
			}
		}
	}
	if request == "" {
		return "", nil
	}
	if called, err := SessionCalled(ctx, s.Store, request); err != nil || called != "" {
		return called, err
	}
	session, err := name.ParseSession(request)
	if own := agentSession(ctx, s.Store, request); own != "" {
		return own, nil
	}
	if err != nil {
		return "", Usage("", "%v", err)
	}
	return session, nil
}

// ChooseSession is NamedSession for commands that only read. When no session is named it returns
// that of the branch, see branchSession and lastHere. It fails with KindNotFound if there is none: that of
// another branch is named, and never taken.
func (s *Sessions) ChooseSession(ctx context.Context, request string) (name.Session, error) {
	session, err := s.NamedSession(ctx, request)
	if err != nil || session != "" {
		return session, err
	}
	if session, err = s.branchSession(ctx); err != nil || session != "" {
		return session, err
	}
	states, err := States(ctx, s.Store, "")
	if err != nil {
		return "", err
	}
	if st := lastHere(ctx, s.Store, states); st != nil {
		return st.Session, nil
	}
	if len(states) > 0 {
		return "", noSteps(ctx, s.Store, states)
	}
	// None of the journals can be read. The first session lets the command report the damage.
	if sessions, err := s.Store.Sessions(ctx); err == nil && len(sessions) > 0 {
		return sessions[0], nil
	}
	return "", Failure(KindNotFound, "`git checkpoint save -m MESSAGE` starts one, named after the branch", "there is no session yet")
}

// State returns the fold of a session's journal. A session that does not exist is an error of
// KindNotFound, one that only lost its journal an error of KindInvalid.
func State(ctx context.Context, s *store.Store, session name.Session) (*journal.State, error) {
	st, err := s.State(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return nil, UnknownSessionError(ctx, s, session)
	}
	return st, err
}

// ChosenState returns the fold of the session that ChooseSession chooses.
func ChosenState(ctx context.Context, s *Sessions, request string) (*journal.State, error) {
	session, err := s.ChooseSession(ctx, request)
	if err != nil {
		return nil, err
	}
	return State(ctx, s.Store, session)
}

// States returns the folds of all sessions. One that cannot be read is left out, with a warning: a
// format for the session and the error, or "" for none.
func States(ctx context.Context, s *store.Store, warning string) ([]*journal.State, error) {
	sessions, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var states []*journal.State
	for _, session := range sessions {
		st, err := State(ctx, s, session)
		if err == nil {
			states = append(states, st)
		} else if warning != "" {
			s.Warn(fmt.Sprintf(warning, session, err))
		}
	}
	return states, nil
}

// UnknownSessionError returns the error for a session that does not exist. Its hints suggest
// similar names. If only its journal is missing, the error says that instead.
func UnknownSessionError(ctx context.Context, s *store.Store, session name.Session) error {
	e := Failure(KindNotFound, "", "no such session: %q", name.Clip(string(session), name.Said))
	if sessions, err := s.Sessions(ctx); err == nil {
		if slices.Contains(sessions, session) {
			return &store.LostError{Session: session}
		}
		if near := nearest(string(session), sessions); len(near) > 0 {
			e.Hints = append(e.Hints, "did you mean "+strings.Join(near, ", ")+"?")
		}
	}
	e.Hints = append(e.Hints, "`git checkpoint session list` shows the sessions")
	return e
}

// NewStart returns the event that starts a session. The branch is a full ref, or "" when there is
// none.
func NewStart(s *store.Store, session name.Session, workflow, topic, branch string) (journal.Event, error) {
	e, err := NewEvent(s, journal.KindStart, session)
	e.Workflow, e.Topic, e.Branch = workflow, topic, branch
	return e, err
}

// ModeOwnBranch in a start event means that the session owns its branch: a rollback moves the
// branch too.
const ModeOwnBranch = "own-branch"

// TrailerCommits is an extra trailer of a start event: with the value "step", each milestone of the
// session is also a commit on its branch, if the workflow says so. Sessions of versions that did not
// know this have no such trailer.
const TrailerCommits = "Session-Commits"

// CommitsSteps reports whether the session was started for that.
func CommitsSteps(st *journal.State) bool {
	return OwnsBranch(st) && st.Started.Trailer(TrailerCommits) == "step"
}

// ModeLand is the mode of the event of a landing, which turns checkpoints into commits on the branch.
const ModeLand = "land"

// Landings returns the checkpoints that landings made, and for each the one that was current before. What such
// a checkpoint holds beyond the landed steps was left uncommitted on purpose, and is not a step until somebody
// saves it.
func Landings(events []*journal.Event) map[name.ID]name.ID {
	made, landed := map[name.ID]name.ID{}, (*journal.Event)(nil)
	for _, e := range events {
		if landed != nil && e.Kind == journal.KindCreate {
			made[e.Checkpoint] = cmp.Or(made[landed.To], landed.To)
		}
		if landed = nil; e.Kind == journal.KindRollback && e.Mode == ModeLand {
			landed = e
		}
	}
	return made
}

// StepHere returns what people call the current step: where the worktree stands, or, after a landing, which changes no file, the
// step before that.
func StepHere(st *journal.State) name.ID {
	if e := st.CurrentEntry(); e != nil && e.Event().Trigger == workflow.TriggerPromote {
		return cmp.Or(Landings(st.Events())[st.Current], st.Current)
	}
	return st.Current
}

// ReasonResume is the reason of the rollback in which a `resume` brings the files of its checkpoint.
const ReasonResume = "resume"

// IsReturn reports whether a rollback or an undo is one for people: neither a landing, nor the way of a `resume`
// to the files of the current checkpoint, nor what an import made to have its layout's checkpoint current.
func IsReturn(e *journal.Event) bool {
	return e.Mode != ModeLand && (e.Reason != ReasonResume || e.From != e.To && e.From != "") && e.Trailer(TrailerDerived) == ""
}

// Choose makes session the active one of this worktree at the user's request. This is remembered,
// so that an agent that works here uses this session and does not adopt another one by itself.
func Choose(s *Service, session name.Session) error {
	if err := s.Store.SetActiveSession(session); err != nil {
		return err
	}
	if err := Forget(s.Repo, resumedFile); err != nil {
		return err
	}
	return Remember(s.Store, chosenFile, session)
}

// ChooseResumed is Choose for a session that the user resumes. A document that belongs to another
// session may still switch to that one. It may not when the user started the session or switched to
// it: see IsFixed.
func ChooseResumed(s *Service, session name.Session) error {
	if err := Choose(s, session); err != nil {
		return err
	}
	return Remember(s.Store, resumedFile, session)
}

// Unchoose ends that a session stays here: the branch decides again.
func Unchoose(s *store.Store) error {
	if err := Forget(s.Repo, chosenFile, resumedFile); err != nil {
		return err
	}
	return s.ClearActiveSession()
}

// IsFixed reports whether the user started the session or switched to it, so that documents must
// not lead to another one.
func IsFixed(repo *git.Repo, session name.Session) bool {
	var resumed name.Session
	known, err := Recall(repo, resumedFile, &resumed)
	return IsChosen(repo, session) && (err != nil || !known || resumed != session)
}

// Adopt makes session the active one of this worktree when no user asked for it. IsChosen is false
// afterwards.
func Adopt(s *Service, session name.Session) error {
	if err := s.Store.SetActiveSession(session); err != nil {
		return err
	}
	return Forget(s.Repo, chosenFile)
}

// IsChosen reports whether a user made session the active one.
func IsChosen(repo *git.Repo, session name.Session) bool {
	var chosen name.Session
	known, err := Recall(repo, chosenFile, &chosen)
	return err == nil && known && chosen == session
}

// OwnsBranch reports whether a rollback of the session also moves its branch by default.
func OwnsBranch(st *journal.State) bool { return st.Started != nil && st.Started.Mode == ModeOwnBranch }

// RefuseBranch returns a usage error for the name of a new branch that git refuses, or, with a hint, that
// exists.
func RefuseBranch(ctx context.Context, repo *git.Repo, branch, hint string) error {
	if _, err := repo.Output(ctx, "check-ref-format", "--branch", branch); err != nil {
		return Usage("", "%q is not a valid branch name", name.Clip(branch, name.Said))
	}
	if _, err := repo.Refs.Resolve(ctx, name.Ref("refs/heads/"+branch)); err == nil {
		return Usage(hint, "branch %q already exists", branch)
	} else if !errors.Is(err, git.ErrMissing) {
		return err
	}
	return nil
}

// IsClosed reports whether a session with this status is finished.
func IsClosed(status string) bool {
	return status == "complete" || status == "failed" || status == "abandoned"
}

// Deactivate clears the active session of this worktree if it is this one.
func Deactivate(s *store.Store, session name.Session) error {
	if active, err := s.ActiveSession(); err == nil && active == session {
		return s.ClearActiveSession()
	}
	return nil
}

// RequireSession is NamedSession for commands that change a session. There must be a named or
// active one: the newest session is too vague a guess for a change.
func (s *Sessions) RequireSession(ctx context.Context, request string) (name.Session, error) {
	session, err := s.NamedSession(ctx, request)
	if active, failed := s.Store.ActiveSession(); err == nil && session == "" && failed == nil && active != "" {
		return s.ChooseSession(ctx, request)
	}
	if err == nil && session == "" {
		return "", s.Rules.orFetch(ctx, Usage("name the session, or `git checkpoint session switch NAME` first", "no session is active here"))
	}
	return session, err
}
