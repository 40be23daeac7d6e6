package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrGCRunning says that a `git gc` is already at work; git runs one at a time.
var ErrGCRunning = errors.New("a git gc is already running")

// Collected is what a `git gc` came to, in bytes.
type Collected struct {
	Freed   int64 // what the object store shrank by
	Waiting int64 // what no ref needs and git keeps until its grace has passed
	Grace   string
}

// KeepsAll reports whether nothing may ever be deleted from the object store.
func (r *Repo) KeepsAll() (bool, error) { return r.Config.Bool("extensions.preciousObjects", false) }

// CollectGarbage runs `git gc`. Which objects go is git's decision alone: those that
// nothing holds and that nobody has written or freshened for the time that gc.pruneExpire
// says.
func (r *Repo) CollectGarbage(ctx context.Context) (Collected, error) {
	version, err := r.Version(ctx)
	if err != nil {
		return Collected{}, err
	}
	cruft, err := r.Config.Bool("gc.cruftPacks", true)
	if err != nil {
		return Collected{}, err
	}
	before, err := r.diskUse()
	if err != nil {
		return Collected{}, err
	}
	// With a cruft pack the newest time of all copies of an object counts. Without one a
	// recently used pack is taken apart, and where an old loose copy lies beside, that one
	// stays with its old time and is deleted. So nothing is deleted then.
	how := "--cruft"
	if !cruft || Older(version, "2.37") {
		how = "--no-prune"
	}
	r.database().packs.Close() // some systems do not delete what is open
	if _, err := r.Output(ctx, "gc", "-q", how); err != nil {
		var said *Error
		if errors.As(err, &said) && strings.Contains(said.Stderr, "gc is already running") {
			err = fmt.Errorf("%w: %w", ErrGCRunning, err)
		}
		return Collected{}, err
	}
	after, err := r.diskUse()
	return Collected{Freed: max(0, before.total-after.total), Waiting: after.unreferenced, Grace: r.grace()}, err
}

// grace is gc.pruneExpire in words: "2 weeks" for "2.weeks.ago".
func (r *Repo) grace() string {
	v, ok := r.Config.Get("gc.pruneExpire")
	if !ok {
		v = "2.weeks.ago"
	}
	return strings.ReplaceAll(strings.TrimSuffix(v, ".ago"), ".", " ")
}

// Grace is how long gc keeps an object that nothing needs; ends is false where it keeps
// all of them. `git rev-parse` reads the date as gc does, and answers with seconds.
func (r *Repo) Grace(ctx context.Context) (grace time.Duration, ends bool, err error) {
	expire, set := r.Config.Get("gc.pruneExpire")
	if !set {
		expire = "2.weeks.ago"
	}
	out, err := r.Output(ctx, "rev-parse", "--since="+expire)
	if err != nil {
		return 0, false, err
	}
	seconds, err := strconv.ParseInt(strings.TrimPrefix(out, "--max-age="), 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("read gc.pruneExpire %q: %w", expire, err)
	}
	return max(0, time.Since(time.Unix(seconds, 0)).Round(time.Minute)), seconds > 0, nil
}
