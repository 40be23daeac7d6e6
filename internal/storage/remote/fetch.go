package remote

// A fetch never writes to a ref that somebody reads. It brings everything into a quarantine, that
// is, refs below name.IncomingRoot with a random prefix. The caller verifies what came, creates the real
// refs in its own transaction, and closes the quarantine. A quarantine that a killed process left
// behind is swept by age.

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Quarantine keeps fetched objects reachable through refs that no reader looks at. Close deletes
// them.
type Quarantine struct {
	repo *git.Repo
	refs []git.Update
	// Got maps the fetched refs, by their names here, to the values that came. They may differ from
	// the listing, since the remote may have moved on in between.
	Got  map[name.Ref]name.OID
	Left map[name.Ref]Refusal // the refs that did not come because git refuses an object of theirs
}

// Refusal says why a ref was left out.
type Refusal struct {
	Why string
	// Sure says that git refused an object of this ref, and will do so again. Otherwise the ref was
	// fetched with others, or the remote could not send it.
	Sure bool
}

// explicit is how many refs are asked for by name. For each name git searches all refs of the
// remote, so above this number a pattern is cheaper although it may bring more than was asked for.
const explicit = 64

// room returns a new place for a quarantine. The time and a random number make it unique.
func (r *Remote) room() string {
	return fmt.Sprintf("%s%x-%08x", name.IncomingRoot, r.Now().Unix(), r.Random())
}

// fetch fetches refs with one git fetch, all or none. there is the listing that the refs are from: if
// more than half of a session's checkpoints are wanted, one pattern fetches all of them. With nil only
// what is named comes. After an error nothing stays.
func (r *Remote) fetch(ctx context.Context, refs []name.Ref, there *Listing) (*Quarantine, error) {
	room := r.room() + "/"
	wanted := map[name.Session]int{}
	for _, ref := range refs {
		if session, _, ok := name.SplitCheckpointRef(ref); ok {
			wanted[session]++
		}
	}
	whole := map[name.Session]bool{}
	for session, n := range wanted {
		whole[session] = there != nil && n > explicit && n > len(there.Session(session).Checkpoints)/2
	}
	var in strings.Builder
	asked := map[name.Session]bool{}
	// A ref that is fetched by name gets its index in refs as its name in the quarantine.
	for i, ref := range refs {
		session, _, _ := name.SplitCheckpointRef(ref)
		switch all := name.Ref(name.CheckpointRoot + string(session) + "/*"); {
		case !whole[session]:
			fmt.Fprintf(&in, "%s:%s%d\n", r.Mapping.ToRemote(ref), room, i)
		case !asked[session]:
			asked[session] = true
			fmt.Fprintf(&in, "%s:%s%s/*\n", r.Mapping.ToRemote(all), room, session)
		}
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-prune", "--no-show-forced-updates", "--refmap=", "--stdin", "--", r.address()}
	_, err := r.run(ctx, "fetch from", git.Cmd{Args: args, Config: hardened(), Stdin: strings.NewReader(in.String())})
	q := &Quarantine{repo: r.Repo, Got: map[name.Ref]name.OID{}}
	came, listErr := r.Repo.Refs.List(ctx, room)
	if err == nil {
		err = listErr
	}
	for _, c := range came {
		q.refs = append(q.refs, git.Update{Ref: c.Ref, Old: c.OID})
		leaf := strings.TrimPrefix(string(c.Ref), room)
		if i, convErr := strconv.Atoi(leaf); convErr == nil && i < len(refs) {
			q.Got[refs[i]] = c.OID
		} else if strings.Contains(leaf, "/") {
			q.Got[name.Ref(name.CheckpointRoot+leaf)] = c.OID
		}
	}
	if err != nil {
		q.Close(ctx)
		return nil, err
	}
	return q, nil
}

// LeftOut reports whether a ref is in Left. It may be called on nil.
func (q *Quarantine) LeftOut(ref name.Ref) bool { return q != nil && q.Left[ref].Why != "" }

// Close deletes the refs of the quarantine. The next gc removes objects that no other ref reaches.
// It may be called on nil, and after the context ended.
func (q *Quarantine) Close(ctx context.Context) {
	if q == nil || len(q.refs) == 0 {
		return
	}
	// A failure is harmless: a later fetch sweeps what is left.
	_ = q.repo.Refs.Update(context.WithoutCancel(ctx), q.refs)
	q.refs = nil
}

// incomingAge is the age after which a quarantine counts as left behind by a fetch that was killed.
// Younger ones may belong to a fetch that is still running.
const incomingAge = 24 * time.Hour

// Sweep removes the quarantines that killed fetches left behind.
func Sweep(ctx context.Context, refs *git.Refs, now time.Time) error {
	gone, err := Abandoned(ctx, refs, now)
	if err != nil || len(gone) == 0 {
		return err
	}
	return refs.Update(ctx, gone)
}

// Abandoned lists the refs of quarantines that killed fetches left behind, as updates that delete
// them. The time is in the name of a quarantine; a name without one counts as old.
func Abandoned(ctx context.Context, refs *git.Refs, now time.Time) ([]git.Update, error) {
	left, err := refs.List(ctx, name.IncomingRoot)
	var gone []git.Update
	for _, l := range left {
		stamp, _, _ := strings.Cut(strings.TrimPrefix(string(l.Ref), name.IncomingRoot), "-")
		began, err := strconv.ParseInt(stamp, 16, 64)
		// Abs: a time in the future is from a clock that was wrong.
		if err != nil || now.Sub(time.Unix(began, 0)).Abs() > incomingAge {
			gone = append(gone, git.Update{Ref: l.Ref, Old: l.OID})
		}
	}
	return gone, err
}

// FetchObjects fetches single objects by id, as git itself does for objects that a partial clone
// left out. It writes no ref: the objects belong to commits whose refs are created or dropped
// elsewhere.
func (r *Remote) FetchObjects(ctx context.Context, oids []name.OID) error {
	if len(oids) == 0 {
		return nil
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--filter=blob:none", "--refmap=", "--stdin", "--", r.address()}
	// Without noop git would first offer its own commits, which costs a round trip for nothing.
	config := append([]string{"fetch.negotiationAlgorithm=noop"}, hardened()...)
	_, err := r.run(ctx, "fetch from", git.Cmd{Args: args, Config: config, Stdin: git.Revisions(oids, nil)})
	return err
}
