package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// named is the session that the request, the environment, the worktree or the
// configuration names, in this order; empty when none does.
func (s *Service) named(request string) (name.Session, error) {
	if request == "" {
		request, _ = s.where.get("checkpoint.session")
		if v := lookupEnv(s.env, "GIT_CHECKPOINT_SESSION"); v != "" {
			request = v
		} else if active, err := s.store.ActiveSession(); err == nil && active != "" {
			return active, nil
		}
	}
	if request == "" {
		return "", nil
	}
	session, err := name.ParseSession(request)
	if err != nil {
		return "", usage("", "%v", err)
	}
	return session, nil
}

func lookupEnv(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// chooseSession is for what only reads: without a name it takes the session of
// the newest event.
func (s *Service) chooseSession(ctx context.Context, request string) (name.Session, error) {
	session, err := s.named(request)
	if err != nil || session != "" {
		return session, err
	}
	sessions, _, err := s.store.Sessions(ctx)
	if err != nil {
		return "", classify(err)
	}
	var newest *journal.State
	for _, info := range sessions {
		st, err := s.store.State(ctx, info.Session)
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

// state folds the journal of a session that must exist.
func (s *Service) state(ctx context.Context, session name.Session) (*journal.State, error) {
	st, err := s.store.State(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return nil, s.unknownSession(ctx, session)
	}
	return st, classify(err)
}

func (s *Service) unknownSession(ctx context.Context, session name.Session) error {
	e := &Error{Kind: KindNotFound, Message: fmt.Sprintf("no such session: %q", session)}
	if sessions, _, err := s.store.Sessions(ctx); err == nil {
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

// sessionForCreate names the session that a new checkpoint goes into, started or
// not: without any name, one called after the branch.
func (s *Service) sessionForCreate(ctx context.Context, request string) (name.Session, error) {
	session, err := s.named(request)
	if err != nil || session != "" {
		return session, err
	}
	if s.repo.Head.Branch == "" {
		return name.Session("detached-" + s.repo.Head.OID.Short()), nil
	}
	short := strings.TrimPrefix(string(s.repo.Head.Branch), "refs/heads/")
	base := name.SessionFromBranch(short)
	for n := 1; ; n++ {
		session := base
		if n > 1 {
			session = name.Session(fmt.Sprintf("%s-%d", base, n))
		}
		st, err := s.store.State(ctx, session)
		if errors.Is(err, store.ErrNoSession) {
			var twin *store.TwinError
			if err = s.store.CheckTwin(ctx, session); errors.As(err, &twin) {
				continue // another branch's, whose name differs in case only
			}
			return session, classify(err)
		}
		if err != nil {
			return "", classify(err)
		}
		if st.Branch == string(s.repo.Head.Branch) {
			return session, nil
		}
	}
}

// startEvent begins a session.
func (s *Service) startEvent(session name.Session, workflow, topic, branch string) (journal.Event, error) {
	e, err := s.event(journal.KindStart, session)
	e.Workflow, e.Topic, e.Branch = workflow, topic, branch
	return e, err
}

// StartSession starts a session and makes it this worktree's active one.
func (s *Service) StartSession(ctx context.Context, req SessionRequest) (*Manifest, error) {
	session, err := name.ParseSession(req.Name)
	if err != nil {
		return nil, usage("", "%v", err)
	}
	def, err := s.definition(req.Workflow)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.State(ctx, session); err == nil {
		return nil, usage("`git checkpoint session switch "+string(session)+"` makes it the active one", "session %q exists already", session)
	} else if !errors.Is(err, store.ErrNoSession) {
		return nil, classify(err)
	}
	if err := s.unfinishedTopic(ctx, req); err != nil {
		return nil, err
	}
	branch := string(s.repo.Head.Branch)
	if req.Branch {
		if branch, err = s.ownBranch(ctx, def, session); err != nil {
			return nil, err
		}
	}
	start, err := s.startEvent(session, def.Name, req.Topic, branch)
	if err != nil {
		return nil, classify(err)
	}
	if req.Branch {
		start.Mode = modeOwnBranch
	}
	_, err = s.store.Transact(ctx, session, func(_ context.Context, v store.View) (store.Change, error) {
		if v.State != nil {
			return store.Change{}, usage("", "session %q exists already", session)
		}
		return store.Change{Events: []journal.Event{start}}, nil
	})
	if err != nil {
		return nil, classify(err)
	}
	if err := s.store.SetActiveSession(session); err != nil {
		return nil, classify(err)
	}
	return s.ShowSession(ctx, string(session))
}

// modeOwnBranch marks the start of a session that owns its branch.
const modeOwnBranch = "own-branch"

// ownsBranch reports whether rollbacks of a session move its branch by default.
func ownsBranch(st *journal.State) bool {
	return st.Started != nil && st.Started.Mode == modeOwnBranch
}

// unfinishedTopic says so when another session works on the topic already.
func (s *Service) unfinishedTopic(ctx context.Context, req SessionRequest) error {
	if req.Topic == "" {
		return nil
	}
	all, err := s.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.Topic != req.Topic || !s.isUnfinished(ctx, m.Session) {
			continue
		}
		if !req.Fresh {
			return &Error{
				Kind: KindRefused, Message: fmt.Sprintf("session %q works on %q and is not finished", m.Session, req.Topic),
				Hints: []string{"`git checkpoint session switch " + string(m.Session) + "` goes on with it", "--fresh closes it as abandoned and starts anew"},
			}
		}
		if _, err := s.CloseSession(ctx, string(m.Session), "abandoned"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) isUnfinished(ctx context.Context, session name.Session) bool {
	st, err := s.store.State(ctx, session)
	return err == nil && !s.isOver(ctx, st)
}

// Unfinished is the newest session that works on a topic; empty when there is none.
func (s *Service) Unfinished(ctx context.Context, topic string) (name.Session, error) {
	all, err := s.Sessions(ctx)
	for _, m := range all {
		if topic != "" && m.Topic == topic && s.isUnfinished(ctx, m.Session) {
			return m.Session, nil
		}
	}
	return "", err
}

func isClosed(status string) bool {
	return status == "complete" || status == "failed" || status == "abandoned"
}

// Sessions lists all sessions, the newest event first. A damaged one is named in
// a warning and left out.
func (s *Service) Sessions(ctx context.Context) ([]Manifest, error) {
	infos, _, err := s.store.Sessions(ctx)
	if err != nil {
		return nil, classify(err)
	}
	out := []Manifest{}
	for _, info := range infos {
		st, err := s.store.State(ctx, info.Session)
		if err != nil {
			s.warn(fmt.Sprintf("session %q: %v", info.Session, err))
			continue
		}
		out = append(out, *s.manifest(st))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].UpdatedAt.After(out[j].UpdatedAt.Time) })
	return out, nil
}

// ShowSession gives the manifest of a session, "" for the chosen one.
func (s *Service) ShowSession(ctx context.Context, request string) (*Manifest, error) {
	session, err := s.chooseSession(ctx, request)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	m := s.manifest(st)
	m.Topic = s.topicOf(ctx, st)
	_, problems, err := s.problems(ctx, st, st.Checkpoints())
	if err != nil {
		return nil, err
	}
	for i := range m.Checkpoints {
		m.Checkpoints[i].Valid = problems[m.Checkpoints[i].ID] == ""
	}
	return m, nil
}

// manifest is the fold as the workflows know it.
func (s *Service) manifest(st *journal.State) *Manifest {
	active, _ := s.store.ActiveSession() //nolint:errcheck // none is active then
	m := &Manifest{
		Session: st.Session, Workflow: st.Workflow, Topic: st.Topic, Status: st.Status, Branch: name.Ref(st.Branch),
		CreatedAt: Time{st.CreatedAt}, UpdatedAt: Time{st.UpdatedAt}, CurrentCheckpoint: st.Current, Active: active == st.Session,
		Archived:    st.Archived != nil,
		Checkpoints: []ManifestEntry{}, RollbackHistory: []RollbackRecord{},
	}
	if m.Status == "" {
		m.Status = "in_progress"
	}
	for _, c := range st.Checkpoints() {
		if c.Dead || c.Safety {
			continue
		}
		m.Checkpoints = append(m.Checkpoints, ManifestEntry{
			ID: c.Checkpoint, Label: c.Label, Step: c.Step, Timestamp: Time{c.Event().Time}, Valid: true, Discarded: c.Discarded, Pinned: c.Pinned,
		})
	}
	for _, r := range st.Rollbacks {
		m.RollbackHistory = append(m.RollbackHistory, RollbackRecord{origin(r), r.To, Time{r.Time}, r.Reason})
	}
	return m
}

// SwitchSession makes a session this worktree's active one.
func (s *Service) SwitchSession(ctx context.Context, request string) (*Manifest, error) {
	session, err := name.ParseSession(request)
	if err != nil {
		return nil, usage("", "%v", err)
	}
	if _, err := s.state(ctx, session); err != nil {
		return nil, err
	}
	if err := s.store.SetActiveSession(session); err != nil {
		return nil, classify(err)
	}
	return s.ShowSession(ctx, request)
}

// CloseSession ends a session as complete, failed or abandoned. "" is the active
// one.
func (s *Service) CloseSession(ctx context.Context, request, status string) (*Manifest, error) {
	if status == "" {
		status = "complete"
	}
	if !isClosed(status) {
		return nil, usage("--status takes complete, failed or abandoned", "a session cannot be closed as %q", status)
	}
	session, err := s.mustNamed(request)
	if err != nil {
		return nil, err
	}
	if _, err := s.state(ctx, session); err != nil {
		return nil, err
	}
	e, err := s.event(journal.KindClose, session)
	if err != nil {
		return nil, classify(err)
	}
	e.Status = status
	if err := s.append(ctx, session, e); err != nil {
		return nil, err
	}
	if err := s.deactivate(session); err != nil {
		return nil, err
	}
	return s.ShowSession(ctx, string(session))
}

// deactivate makes no session active, when this one is.
func (s *Service) deactivate(session name.Session) error {
	if active, err := s.store.ActiveSession(); err == nil && active == session {
		return classify(s.store.ClearActiveSession())
	}
	return nil
}

// mustNamed is for commands that change a session: it has to be named or active.
func (s *Service) mustNamed(request string) (name.Session, error) {
	session, err := s.named(request)
	if err == nil && session == "" {
		return "", usage("name the session, or `git checkpoint session switch NAME` first", "no session is active here")
	}
	return session, err
}
