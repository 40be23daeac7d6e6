package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/git/internal/odb"
)

// Maintenance is the upkeep of the object store and of the refs: what git gc and this program do to it.
type Maintenance struct {
	at       *Location
	settings *Settings
	objects  *Objects
}

// ErrGCRunning says that another `git gc` is running. git allows one at a time.
var ErrGCRunning = errors.New("a git gc is already running")

// Collected is the result of a `git gc`. Sizes are in bytes.
type Collected struct {
	Freed   int64  // by how much the object store has shrunk
	Waiting int64  // size of the unreachable objects that git keeps until their grace period is over
	Grace   string // that period in words, such as "2 weeks"
}

// CollectGarbage runs `git gc`. git alone decides which objects are deleted: those that are
// unreachable and that nobody has written or freshened within gc.pruneExpire.
func (m *Maintenance) CollectGarbage(ctx context.Context) (Collected, error) {
	version, err := m.at.Version(ctx)
	if err != nil {
		return Collected{}, err
	}
	cruft, err := m.at.Config.Bool("gc.cruftPacks", true)
	if err != nil {
		return Collected{}, err
	}
	before, err := m.diskUse()
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
	m.objects.database().packs.Close() // some systems cannot delete a file that is open
	if _, err := m.at.Output(ctx, "gc", "-q", how); err != nil {
		if said, is := errors.AsType[*Error](err); is && strings.Contains(said.Stderr, "gc is already running") {
			err = fmt.Errorf("%w: %w", ErrGCRunning, err)
		}
		return Collected{}, err
	}
	after, err := m.diskUse()
	grace := strings.ReplaceAll(strings.TrimSuffix(m.pruneExpire(), ".ago"), ".", " ")
	return Collected{Freed: max(0, before.Total-after.Total), Waiting: after.Unreferenced, Grace: grace}, err
}

// diskUse measures the repository's own object store. Alternates do not count.
func (m *Maintenance) diskUse() (odb.DiskUse, error) {
	use, err := odb.Measure(os.DirFS(filepath.Join(m.at.CommonDir, "objects")))
	if err != nil {
		return use, fmt.Errorf("measure the object store: %w", err)
	}
	return use, nil
}

// defaultExpire is what git takes gc.pruneExpire for where it is not set.
const defaultExpire = "2.weeks.ago"

// pruneExpire returns gc.pruneExpire, or the default.
func (m *Maintenance) pruneExpire() string {
	if v, ok := m.at.Config.Get("gc.pruneExpire"); ok {
		return v
	}
	return defaultExpire
}

// Grace returns how long gc keeps an unreachable object. ends is false if gc keeps such objects for
// ever ("never"). `git rev-parse --since` parses the date as gc does, and prints it in seconds.
func (m *Maintenance) Grace(ctx context.Context) (grace time.Duration, ends bool, err error) {
	expire := m.pruneExpire()
	out, err := m.at.Output(ctx, "rev-parse", "--since="+expire)
	if err != nil {
		return 0, false, err
	}
	seconds, err := strconv.ParseInt(strings.TrimPrefix(out, "--max-age="), 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("read gc.pruneExpire %q: %w", expire, err)
	}
	return max(0, time.Since(time.Unix(seconds, 0)).Round(time.Minute)), seconds > 0, nil
}
