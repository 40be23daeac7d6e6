package remote

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// IncomingRoot is where a fetch puts what nobody has checked yet.
const IncomingRoot = "refs/checkpoint-incoming/"

// Quarantine holds the objects of a fetch by refs that nobody reads.
type Quarantine struct {
	repo *git.Repo
	refs []git.Update
	// Got are the values that came, by our names; the remote may have moved on since
	// it was listed.
	Got map[name.Ref]name.OID
}

// hardened makes git check every object that comes, whatever the user's own
// configuration lets pass.
var hardened = []string{"fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.fsck.hasDotgit=error",
	"fetch.fsck.hasDotdot=error", "fetch.fsck.hasDot=error", "fetch.fsck.fullPathname=error", "fetch.fsck.emptyName=error"}

// explicit is how many refs are asked for by name. git looks through all refs of the
// remote for each of them, so that of more a pattern is cheaper.
const explicit = 64

// Bring fetches refs, called by our names, into a quarantine. random makes its name.
// there is the listing that they are from; of a session of which most is wanted, all may
// come.
func (r *Remote) Bring(ctx context.Context, refs []name.Ref, there *Listing, now time.Time, random uint32) (*Quarantine, error) {
	room := fmt.Sprintf("%s%x-%08x/", IncomingRoot, now.Unix(), random)
	wanted := map[name.Session]int{}
	for _, ref := range refs {
		if session, _, ok := name.SplitCheckpointRef(ref); ok {
			wanted[session]++
		}
	}
	whole := map[name.Session]bool{}
	for session, n := range wanted {
		whole[session] = n > explicit && n > len(there.Session(session).Checkpoints)/2
	}
	var in strings.Builder
	asked := map[name.Session]bool{}
	for i, ref := range refs {
		session, _, _ := name.SplitCheckpointRef(ref)
		switch all := name.Ref(name.CheckpointRoot + string(session) + "/*"); {
		case !whole[session]:
			fmt.Fprintf(&in, "%s:%s%d\n", r.Mapping.There(ref), room, i)
		case !asked[session]:
			asked[session] = true
			fmt.Fprintf(&in, "%s:%s%s/*\n", r.Mapping.There(all), room, session)
		}
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-prune", "--no-show-forced-updates", "--refmap=", "--stdin", "--", r.address()}
	_, err := r.run(ctx, "fetch from", git.Cmd{Args: args, Config: hardened, Stdin: strings.NewReader(in.String())})
	q := &Quarantine{repo: r.Repo, Got: map[name.Ref]name.OID{}}
	came, listErr := r.Repo.Refs(ctx, room)
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

// Close lets go of what came and was not taken.
func (q *Quarantine) Close(ctx context.Context) {
	if q == nil || len(q.refs) == 0 {
		return
	}
	// What a kill leaves here is swept by a later fetch.
	_ = q.repo.UpdateRefs(context.WithoutCancel(ctx), q.refs)
	q.refs = nil
}

// Sweep removes quarantines that a killed fetch left behind, by age.
func Sweep(ctx context.Context, repo *git.Repo, now time.Time, age time.Duration) error {
	gone, err := Abandoned(ctx, repo, now, age)
	if err != nil || len(gone) == 0 {
		return err
	}
	return repo.UpdateRefs(ctx, gone)
}

// Abandoned lists what fetches that were cut off left behind, as the updates that drop it.
func Abandoned(ctx context.Context, repo *git.Repo, now time.Time, age time.Duration) ([]git.Update, error) {
	left, err := repo.Refs(ctx, IncomingRoot)
	var gone []git.Update
	for _, l := range left {
		stamp, _, _ := strings.Cut(strings.TrimPrefix(string(l.Ref), IncomingRoot), "-")
		began, err := strconv.ParseInt(stamp, 16, 64)
		if err != nil || now.Sub(time.Unix(began, 0)).Abs() > age {
			gone = append(gone, git.Update{Ref: l.Ref, Old: l.OID})
		}
	}
	return gone, err
}

// BringObjects fetches single objects, as a partial clone gets what it left out. No ref
// names them; what does is taken or refused as a whole.
func (r *Remote) BringObjects(ctx context.Context, oids []name.OID) error {
	if len(oids) == 0 {
		return nil
	}
	var in strings.Builder
	for _, oid := range oids {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--filter=blob:none", "--refmap=", "--stdin", "--", r.address()}
	config := append([]string{"fetch.negotiationAlgorithm=noop"}, hardened...)
	_, err := r.run(ctx, "fetch from", git.Cmd{Args: args, Config: config, Stdin: strings.NewReader(in.String())})
	return err
}
