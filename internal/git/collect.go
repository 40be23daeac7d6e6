package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrGCRunning says that another `git gc` is running. git allows one at a time.
var ErrGCRunning = errors.New("a git gc is already running")

// Collected is the result of a `git gc`. Sizes are in bytes.
type Collected struct {
	Freed   int64  // by how much the object store has shrunk
	Waiting int64  // size of the unreachable objects that git keeps until their grace period is over
	Grace   string // that period in words, such as "2 weeks"
}

// KeepsAll reports whether nothing may ever be deleted from the object store
// (extensions.preciousObjects).
func (r *Repo) KeepsAll() (bool, error) { return r.Config.Bool("extensions.preciousObjects", false) }

// CollectGarbage runs `git gc`. git alone decides which objects are deleted: those that are
// unreachable and that nobody has written or freshened within gc.pruneExpire.
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
	// A cruft pack records for each object the newest mtime of all its copies. Without one, gc
	// unpacks the unreachable objects of a recently used pack, but where an old loose copy of such
	// an object exists, that one stays with its old mtime and is deleted. An object that was
	// freshened in its pack a moment ago would be lost. So nothing is deleted in that case.
	how := "--cruft"
	if !cruft || Older(version, "2.37") {
		how = "--no-prune"
	}
	r.database().packs.Close() // some systems cannot delete a file that is open
	if _, err := r.Output(ctx, "gc", "-q", how); err != nil {
		var said *Error
		if errors.As(err, &said) && strings.Contains(said.Stderr, "gc is already running") {
			err = fmt.Errorf("%w: %w", ErrGCRunning, err)
		}
		return Collected{}, err
	}
	after, err := r.diskUse()
	grace := strings.ReplaceAll(strings.TrimSuffix(r.pruneExpire(), ".ago"), ".", " ")
	return Collected{Freed: max(0, before.total-after.total), Waiting: after.unreferenced, Grace: grace}, err
}

// defaultExpire is what git takes gc.pruneExpire for where it is not set.
const defaultExpire = "2.weeks.ago"

// pruneExpire returns gc.pruneExpire, or the default.
func (r *Repo) pruneExpire() string {
	if v, ok := r.Config.Get("gc.pruneExpire"); ok {
		return v
	}
	return defaultExpire
}

// Grace returns how long gc keeps an unreachable object. ends is false if gc keeps such objects for
// ever ("never"). `git rev-parse --since` parses the date as gc does, and prints it in seconds.
func (r *Repo) Grace(ctx context.Context) (grace time.Duration, ends bool, err error) {
	expire := r.pruneExpire()
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
