package travel

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
)

// RemoteSession says how a session here differs from the same session at a remote. ToPush and
// ToFetch count checkpoints; an archive whose content is unknown here counts as one.
type RemoteSession struct {
	Remote    string           `json:"remote"`
	Session   name.Session     `json:"session"`
	State     string           `json:"state"` // up-to-date, ahead, behind, diverged, local or remote
	ToPush    int              `json:"to_push"`
	ToFetch   int              `json:"to_fetch"`
	Conflicts []name.ID        `json:"conflicts"`
	LastSync  *checkpoint.Time `json:"last_sync"`
}

// CompareRemote lists the remote and compares each session with it. It changes nothing in either
// repository. The state of journals that are not here is taken from the tracking refs.
func CompareRemote(ctx context.Context, s *checkpoint.Service, req Request) ([]RemoteSession, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	here, there, err := t.both(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.known(ctx, here, there); err != nil {
		return nil, err
	}
	pushed, err := t.pushedTo(ctx)
	if err != nil {
		return nil, err
	}
	t.sayUnsent()
	out := []RemoteSession{}
	for _, session := range either(here, there) {
		r, err := t.compare(ctx, session, here.Session(session), there.Session(session))
		for i, place := range pushed {
			if err == nil {
				err = t.alsoPushed(ctx, &r, here, place.Listing, i)
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if req.First == nil {
		return out, nil
	}
	if len(pushed) == 0 {
		pushed = []pushPlace{{"", there}}
	}
	for _, place := range pushed {
		t.remote.Place = place.at
		if len(pushed) > 1 {
			t.answer.Remote = remote.Redact(place.at)
		}
		c := &pushRound{transfer: t, here: here, there: place.Listing}
		for _, session := range here.Names() {
			c.plans = append(c.plans, remote.Plan{Session: session})
		}
		to, err := c.destination(ctx)
		if err != nil {
			return nil, err
		}
		first, err := clearance.Foresee(ctx, s.Repo, t.answer.Remote, to)
		if err == nil && first.Any() {
			err = req.First(first)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pushPlace is a push address and what is there.
type pushPlace struct {
	at string
	*remote.Listing
}

// pushedTo lists the places to which a push goes, if these differ from the one that is fetched
// from. It returns nil for the usual remote with one address.
func (t *transfer) pushedTo(ctx context.Context) ([]pushPlace, error) {
	places, err := t.remote.Destinations(ctx)
	var all []pushPlace
	for _, place := range places {
		at := *t.remote
		at.Place = place
		l, err := at.List(ctx)
		if err != nil {
			return nil, unreachable(err)
		}
		l.Keep(t.sessions)
		all = append(all, pushPlace{place, l})
	}
	return all, unreachable(err)
}

// alsoPushed corrects r for a remote with other push addresses. What a push would send depends on
// the push address place, the i-th one, and what a fetch would bring on the fetch address only. r
// has the comparison with the fetch address, and gets those with the push addresses one after the
// other.
func (t *transfer) alsoPushed(ctx context.Context, r *RemoteSession, here, place *remote.Listing, i int) error {
	at, err := t.compare(ctx, r.Session, here.Session(r.Session), place.Session(r.Session))
	if err != nil {
		return err
	}
	sending := []string{"ahead", "diverged", "local"}
	fetches := r.State == "behind" || r.State == "diverged" || r.State == "remote"
	sends := slices.Contains(sending, at.State) || i > 0 && slices.Contains(sending, r.State)
	// The count so far is that of the fetch address, to which no push goes.
	if i == 0 {
		r.ToPush = 0
	}
	r.ToPush = max(r.ToPush, at.ToPush)
	for _, id := range at.Conflicts {
		if !slices.Contains(r.Conflicts, id) {
			r.Conflicts = append(r.Conflicts, id)
		}
	}
	switch {
	case r.State == "remote":
	case sends && !fetches && at.State == "local":
		r.State = "local"
	default:
		r.State = stateBy(sends, fetches)
	}
	return nil
}

// compare compares one session here with one place. The journals decide the state. Where these are
// equal, missing checkpoints do.
func (t *transfer) compare(ctx context.Context, session name.Session, here, there *remote.Session) (RemoteSession, error) {
	r := RemoteSession{Remote: t.answer.Remote, Session: session, Conflicts: []name.ID{}, LastSync: t.memory.LastSync}
	mine, err := JournalOf(ctx, t.s.Store, session)
	if err != nil && !excused(err) {
		return r, err
	}
	t.count(ctx, &r, here, there, mine)
	r.State = t.stateOf(session, mine, here, there)
	if r.State == "up-to-date" {
		r.State = stateBy(r.ToPush > 0, r.ToFetch > 0)
	}
	return r, nil
}

// stateBy returns the state of a session by what a push would send and a fetch would bring.
func stateBy(sends, fetches bool) string {
	switch {
	case sends && fetches:
		return "diverged"
	case sends:
		return "ahead"
	case fetches:
		return "behind"
	}
	return "up-to-date"
}

// count counts the checkpoints to push and to fetch, and lists the conflicts.
func (t *transfer) count(ctx context.Context, r *RemoteSession, here, there *remote.Session, mine *Joined) {
	session := r.Session
	if there.Archive != "" && (there.Archive == here.Archive || Exists(ctx, t.s.Repo, there.Archive)) {
		if err := t.readArchive(ctx, session, there); err != nil && t.isFirst(err) {
			t.s.Store.Warn(err.Error()) // its content stays unknown
		}
	}
	ours, theirs := here.Held(), there.Held()
	for id, oid := range ours {
		switch other := theirs[id]; {
		case other == oid || mine.dead(id):
		case other == "":
			r.ToPush++
		default:
			r.Conflicts = append(r.Conflicts, id)
		}
	}
	if there.Archive != "" && there.Archived == nil {
		r.ToFetch++ // what it holds is not known before it is fetched
	}
	for id := range theirs {
		if ours[id] == "" && !mine.dead(id) {
			r.ToFetch++
		}
	}
}

// stateOf compares the journals without fetching: as far as the objects and tracking refs here
// show.
func (t *transfer) stateOf(session name.Session, mine *Joined, here, there *remote.Session) string {
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
	// The journal has not changed since it was last synchronised with this remote, and a remote's
	// journal only moves forward, so the remote has all of it.
	case here.Journal == t.tracking[t.trackingRef(session)]:
		return "behind"
	}
	return "diverged"
}
