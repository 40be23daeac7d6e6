package travel

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// bringWhole fetches refs and makes sure that all objects they need stay here. A concurrent gc that
// drops all unreachable objects (git gc --prune=now) may have listed the refs before those of the
// quarantine existed, and then deletes what was fetched. So if such a gc was running before or
// after the fetch, wait for its end, check that everything is still here, and fetch again if not. A
// gc that starts later sees the refs of the quarantine.
func (t *trip) bringWhole(ctx context.Context, want []name.Ref, there *remote.Listing) (*remote.Quarantine, error) {
	for try := 1; ; try++ {
		beside := t.s.Repo.GCDropsAll()
		q, err := t.remote.Bring(ctx, want, there)
		t.s.Trace("arrived")
		if beside = t.s.Repo.GCDropsAll() || beside; !beside {
			return t.withLines(q), err
		}
		if waitErr := t.s.Repo.AwaitGC(ctx); waitErr != nil {
			q.Close(ctx)
			return nil, waitErr
		}
		if err == nil && (len(q.Left) == 0 || try >= checkpoint.Attempts) {
			if err = connected(ctx, t.s, slices.Collect(maps.Values(q.Got))); err == nil {
				return t.withLines(q), nil
			}
		}
		q.Close(ctx)
		if try >= checkpoint.Attempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// withLines reports what a fetch left out, and returns it.
func (t *trip) withLines(q *remote.Quarantine) *remote.Quarantine {
	if q != nil {
		for _, ref := range slices.Sorted(maps.Keys(q.Left)) {
			t.line(ref, OutcomeRejected, q.Left[ref].Error())
		}
	}
	return q
}

// connected returns an error unless everything reachable from the commits is here. What the refs
// outside the quarantine reach is taken as complete and not walked again.
func connected(ctx context.Context, s *checkpoint.Service, commits []name.OID) error {
	args := []string{"rev-list", "--objects", "--stdin", "--quiet"}
	if _, partial := s.Repo.Config.Get("extensions.partialClone"); partial {
		args = append(args, "--exclude-promisor-objects")
	}
	args = append(args, "--not", "--exclude="+name.IncomingRoot+"*", "--all")
	if _, err := s.Repo.Run(ctx, git.Cmd{Args: args, Stdin: git.Revisions(commits, nil)}); err != nil {
		return fmt.Errorf("look for everything that was fetched: %w", err)
	}
	return nil
}
