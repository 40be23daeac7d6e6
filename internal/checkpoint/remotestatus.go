package checkpoint

import (
	"context"
	"slices"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// RemoteSession is how a session here and at a remote differ.
type RemoteSession struct {
	Remote    string       `json:"remote"`
	Session   name.Session `json:"session"`
	State     string       `json:"state"` // up-to-date, ahead, behind, diverged, local or remote
	ToPush    int          `json:"to_push"`
	ToFetch   int          `json:"to_fetch"`
	Conflicts []name.ID    `json:"conflicts"`
	LastSync  *Time        `json:"last_sync"`
}

// CompareRemote reads a remote and compares each session. It changes nothing.
func (s *Service) CompareRemote(ctx context.Context, req TravelRequest) ([]RemoteSession, error) {
	t, err := s.newTrip(req)
	if err != nil {
		return nil, err
	}
	here, there, err := t.both(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.known(here, there); err != nil {
		return nil, err
	}
	out := []RemoteSession{}
	for _, session := range t.either(here, there) {
		r, err := t.compare(ctx, session, here.Session(session), there.Session(session))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (t *trip) compare(ctx context.Context, session name.Session, here, there *remote.Session) (RemoteSession, error) {
	r := RemoteSession{Remote: t.answer.Remote, Session: session, Conflicts: []name.ID{}, LastSync: t.memory.LastSync}
	mine, err := t.s.journalOf(ctx, session)
	if err != nil && excuse(err) == nil {
		return r, err
	}
	st := mine.fold()
	for id, oid := range here.Checkpoints {
		switch other := there.Checkpoints[id]; {
		case other == oid || st != nil && st.Dead(id):
		case other == "":
			r.ToPush++
		default:
			r.Conflicts = append(r.Conflicts, id)
		}
	}
	for id := range there.Checkpoints {
		if here.Checkpoints[id] == "" && (st == nil || !st.Dead(id)) {
			r.ToFetch++
		}
	}
	r.State = t.stateOf(mine, here, there)
	if r.State == "up-to-date" {
		switch {
		case r.ToPush > 0 && r.ToFetch > 0:
			r.State = "diverged"
		case r.ToPush > 0:
			r.State = "ahead"
		case r.ToFetch > 0:
			r.State = "behind"
		}
	}
	return r, nil
}

// stateOf compares the journals, as far as the objects that are here tell.
func (t *trip) stateOf(mine *joined, here, there *remote.Session) string {
	ahead := mine != nil && there.Journal != "" && mine.log.Contains(there.Journal)
	switch {
	case here.Journal == there.Journal:
		return "up-to-date"
	case there.Journal == "":
		return "local"
	case here.Journal == "":
		return "remote"
	case ahead:
		return "ahead"
	case t.sentBefore(here.Journal):
		return "behind"
	}
	return "diverged"
}

// sentBefore reports whether nothing was written since the journal was last
// synchronised: the remote, which only goes forward, has all of it.
func (t *trip) sentBefore(tip name.OID) bool { return slices.Contains(t.tracked[tip], t.remote.Name) }
