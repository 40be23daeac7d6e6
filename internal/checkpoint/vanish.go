package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
	"git-checkpoint/internal/store"
)

// attempts bounds how often something is brought anew that a gc took while it came.
const attempts = 3

// vanished reports whether objects went while refs were written that need them, so that
// the refs were taken back.
func vanished(err error) bool {
	var missing *store.MissingObjectsError
	return errors.As(err, &missing) && missing.TakenBack
}

// bringWhole brings refs with all that they need. A gc that spares nothing takes what
// came after it had looked at the refs, so where one is at work what came is looked
// through once it is over; one that starts later sees the refs of the quarantine.
func (t *trip) bringWhole(ctx context.Context, want []name.Ref, there *remote.Listing) (*remote.Quarantine, error) {
	for try := 1; ; try++ {
		beside := t.s.repo.GCDropsAll()
		q, err := t.remote.Bring(ctx, want, there, t.s.now(), t.s.store.Random())
		t.s.trace("arrived")
		if beside = t.s.repo.GCDropsAll() || beside; !beside {
			return q, err
		}
		if waitErr := t.s.repo.AwaitGC(ctx); waitErr != nil {
			q.Close(ctx)
			return nil, waitErr
		}
		if err == nil {
			if err = t.s.connected(ctx, slices.Collect(maps.Values(q.Got))); err == nil {
				return q, nil
			}
			q.Close(ctx)
		}
		if try >= attempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// connected finds out whether commits that no ref but those of a quarantine holds yet are
// here with all that they need.
func (s *Service) connected(ctx context.Context, commits []name.OID) error {
	var in strings.Builder
	for _, oid := range commits {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	args := []string{"rev-list", "--objects", "--stdin", "--quiet"}
	if _, partial := s.repo.Config.Get("extensions.partialClone"); partial {
		args = append(args, "--exclude-promisor-objects")
	}
	args = append(args, "--not", "--exclude="+remote.IncomingRoot+"*", "--all")
	if _, err := s.repo.Run(ctx, git.Cmd{Args: args, Stdin: strings.NewReader(in.String())}); err != nil {
		return fmt.Errorf("look for all that came: %w", err)
	}
	return nil
}
