// Package session starts, switches, closes, archives and lists sessions.
//
// A session is a journal in a ref; which one is active is a file of the worktree
// (checkpoint.Choose). Each verb returns a Manifest, the description of the session after
// the change. Start may also create a branch (branch.go), and Archive folds the refs of a
// closed session (archive.go).
package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/retain"
)

// Request holds the options of `session start`.
type Request struct {
	Name     string
	Workflow string
	Topic    string
	Branch   bool // create a branch for the session and switch to it
	Fresh    bool // close an unfinished session of the same topic as abandoned
}

// Start starts a session and makes it the active one of this worktree.
func Start(ctx context.Context, s *checkpoint.Service, req Request) (*Manifest, error) {
	session, err := name.ParseSession(req.Name)
	if err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	def, err := s.Rules.Definition(req.Workflow)
	if err != nil {
		return nil, err
	}
	if _, err := s.Store.State(ctx, session); err == nil {
		return nil, checkpoint.Usage("`git checkpoint session switch "+string(session)+"` makes it the active one", "session %q already exists", session)
	} else if !errors.Is(err, store.ErrNoSession) {
		return nil, err
	}
	if err := s.Store.CheckTwin(ctx, session); err != nil {
		return nil, err
	}
	// A topic is stored in an event that cannot be changed, so secrets are removed first.
	req.Topic = clearance.Redacted(s.Rules, "topic", req.Topic)
	// Closing a session may prune its checkpoints, so it waits until nothing can refuse.
	same, err := unfinishedOn(ctx, s.Sessions, req.Topic)
	if err != nil {
		return nil, err
	}
	if len(same) > 0 && !req.Fresh {
		e := checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint session switch "+string(same[0])+"` continues it", "session %q on topic %q is not finished", same[0], name.Clip(req.Topic, name.Said))
		e.Hints = append(e.Hints, "--fresh closes it as abandoned, and starts a new one")
		return nil, e
	}
	// Without a branch of its own a session belongs to the branch on which it was started.
	branch := string(s.Repo.Head.Branch)
	if req.Branch {
		if branch, err = ownBranch(ctx, s.Repo, def, session); err != nil {
			return nil, err
		}
	}
	for _, older := range same {
		if _, err := Close(ctx, s, string(older), "abandoned"); err != nil {
			return nil, err
		}
	}
	start, err := checkpoint.NewStart(s.Store, session, def.Name, req.Topic, branch)
	if err != nil {
		return nil, err
	}
	if req.Branch {
		start.Mode = checkpoint.ModeOwnBranch
		if def.CommitsSteps() {
			start.Extra = []journal.Trailer{{Key: checkpoint.TrailerCommits, Value: "step"}}
		}
	}
	_, err = s.Store.Transact(ctx, session, func(_ context.Context, v store.View) (store.Change, error) {
		// Another process started the same session after the check above.
		if v.State != nil {
			return store.Change{}, checkpoint.Usage("", "session %q already exists", session)
		}
		return store.Change{Events: []journal.Event{start}}, nil
	})
	if err != nil {
		return nil, err
	}
	if err := checkpoint.Choose(s, session); err != nil {
		return nil, err
	}
	return Show(ctx, s.Sessions, string(session))
}

// unfinishedOn returns the open sessions that work on a topic, the most recent first. A damaged one
// counts as finished.
func unfinishedOn(ctx context.Context, s *checkpoint.Sessions, topic string) (found []name.Session, err error) {
	if topic == "" {
		return nil, nil
	}
	all, err := List(ctx, s)
	for _, m := range all {
		if m.Topic != topic {
			continue
		}
		if st, err := s.Store.State(ctx, m.Session); err == nil && !checkpoint.IsOver(ctx, s.Rules, st) {
			found = append(found, m.Session)
		}
	}
	return found, err
}

// Unfinished returns the most recent open session with the topic, or "".
func Unfinished(ctx context.Context, s *checkpoint.Sessions, topic string) (name.Session, error) {
	found, err := unfinishedOn(ctx, s, topic)
	if len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// List returns all sessions, the one with the newest event first. A damaged session is left
// out with a warning.
func List(ctx context.Context, s *checkpoint.Sessions) ([]Manifest, error) {
	states, err := checkpoint.States(ctx, s.Store, "session %q: %v")
	if err != nil {
		return nil, err
	}
	active, err := s.HereSession(ctx)
	if err != nil {
		return nil, err
	}
	out := []Manifest{}
	for _, st := range states {
		m := told(ctx, s.Rules, st)
		m.Active = st.Session == active
		out = append(out, *m)
	}
	slices.SortStableFunc(out, func(a, b Manifest) int { return b.UpdatedAt.Compare(a.UpdatedAt.Time) })
	return out, nil
}

// Present leaves out of a list the finished sessions that have no checkpoints, and says what is due to
// be removed and leaves that out, too. The active session stays.
func Present(ctx context.Context, s *checkpoint.Rules, all []Manifest) ([]Manifest, error) {
	due, err := retain.WarnDue(ctx, s)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(m Manifest) bool {
		isDue := slices.ContainsFunc(due, func(d retain.Due) bool { return d.Session == m.Session })
		return !m.Active && (isDue || m.gone && len(m.Checkpoints) == 0)
	}), nil
}

// Show returns the manifest of a session, with its checkpoints verified. An empty request
// means the session that commands would choose.
func Show(ctx context.Context, s *checkpoint.Sessions, request string) (*Manifest, error) {
	st, err := checkpoint.ChosenState(ctx, s, request)
	if err != nil {
		return nil, err
	}
	m := told(ctx, s.Rules, st)
	if active, err := s.HereSession(ctx); err == nil {
		m.Active = m.Session == active
	}
	summaries, problems, err := inspect.Problems(ctx, s.Store, st, st.Checkpoints())
	if err != nil {
		return nil, err
	}
	same := map[string]int{} // how many are called so
	for _, c := range m.Checkpoints {
		same[c.Called]++
	}
	for i := range m.Checkpoints {
		c := &m.Checkpoints[i]
		if same[c.Called] > 1 {
			c.Called = checkpoint.NameTo(st, st.Entry(c.ID))
		}
		c.Valid = problems[c.ID] == ""
		if sum := summaries[c.ID]; sum != nil {
			c.Message, _, _ = strings.Cut(cmp.Or(st.Entry(c.ID).Described(), sum.Message), "\n")
		}
		if c.Message == "" { // only the record has the files
			c.Message = checkpoint.Mentioned(ctx, s.Store, st, st.Entry(c.ID)).Description()
		}
	}
	return m, nil
}

// told returns the manifest. If the events have no topic or status, it takes them from the
// documents of the workflow.
func told(ctx context.Context, s *checkpoint.Rules, st *journal.State) *Manifest {
	m := ManifestOf(st)
	m.Topic, m.Status = checkpoint.TopicOf(ctx, s, st), checkpoint.StatusOf(ctx, s, st)
	return m
}

// Switch makes a session the active one of this worktree.
func Switch(ctx context.Context, s *checkpoint.Service, request string) (*Manifest, error) {
	if request == "" {
		_, err := name.ParseSession(request)
		return nil, checkpoint.Usage("", "%v", err)
	}
	session, err := s.Sessions.NamedSession(ctx, request)
	if err == nil {
		_, err = checkpoint.State(ctx, s.Store, session)
	}
	if err == nil {
		err = checkpoint.Choose(s, session)
	}
	if err != nil {
		return nil, err
	}
	return Show(ctx, s.Sessions, string(session))
}

// Follow ends that a session stays in this worktree: the branch decides again. It returns the manifest of the branch's
// session, an empty one if there is none yet.
func Follow(ctx context.Context, s *checkpoint.Service) (*Manifest, error) {
	if err := checkpoint.Unchoose(s.Store); err != nil {
		return nil, err
	}
	session, err := s.Sessions.HereSession(ctx)
	if err != nil || session == "" {
		return &Manifest{}, err
	}
	if err := checkpoint.Adopt(s, session); err != nil {
		return nil, err
	}
	return Show(ctx, s.Sessions, string(session))
}

// Close closes a session as complete, failed or abandoned (empty: complete), and removes
// the checkpoints that its workflow does not keep after such an end. An empty request means
// the active session.
func Close(ctx context.Context, s *checkpoint.Service, request, status string) (*Manifest, error) {
	if status = cmp.Or(status, "complete"); !checkpoint.IsClosed(status) {
		return nil, checkpoint.Usage("--status must be complete, failed or abandoned", "a session cannot be closed as %q", name.Clip(status, name.Said))
	}
	// RequireSession does not guess: a session must not be closed by mistake because it was the
	// likely one.
	session, err := s.Sessions.RequireSession(ctx, request)
	if err != nil {
		return nil, err
	}
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		return nil, err
	}
	// The plan is made before the event, because the event changes what the workflow sees.
	plan := retain.OnClose(ctx, s, st, status)
	if err := checkpoint.Append(ctx, s.Store, session, journal.KindClose, func(e *journal.Event) { e.Status = status }); err != nil {
		return nil, err
	}
	if err := checkpoint.Deactivate(s.Store, session); err != nil {
		return nil, err
	}
	gone := &retain.PruneAnswer{}
	if plan != nil {
		if gone, err = plan.Apply(ctx); err != nil {
			return nil, err
		}
	}
	expired, err := expire(ctx, s, st)
	if err != nil {
		s.Store.Warn("automatic prune: " + err.Error())
	}
	closed, err := Show(ctx, s.Sessions, string(session))
	if err == nil {
		closed.Pruned, closed.Expired = gone.Pruned, expired
	}
	return closed, err
}

// expire removes the other sessions of the workflow that are due.
func expire(ctx context.Context, s *checkpoint.Service, st *journal.State) ([]name.Session, error) {
	def, err := s.Rules.DefinitionFor(ctx, st)
	if err != nil {
		return nil, nil //nolint:nilerr // a broken definition must not keep a session from being closed
	}
	return retain.RemoveDue(ctx, s, def, st.Session)
}
