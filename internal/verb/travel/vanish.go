package travel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
)

// bringWhole fetches refs and makes sure that all objects they need stay here. A concurrent gc that
// drops all unreachable objects (git gc --prune=now) may have listed the refs before those of the
// quarantine existed, and then deletes what was fetched. So if such a gc was running before or
// after the fetch, wait for its end, check that everything is still here, and fetch again if not. A
// gc that starts later sees the refs of the quarantine.
func (t *transfer) bringWhole(ctx context.Context, want []name.Ref, there *remote.Listing) (*remote.Quarantine, error) {
	known := t.refusedBefore(&want, there)
	if len(want) == 0 {
		return t.leftOut(&remote.Quarantine{Left: map[name.Ref]remote.Refusal{}}, known, there), nil
	}
	for try := 1; ; try++ {
		beside := t.s.Repo.Maintenance.GCDropsAll()
		q, err := t.remote.Fetch(ctx, want, there)
		t.s.Trace("arrived")
		if beside = t.s.Repo.Maintenance.GCDropsAll() || beside; !beside {
			return t.leftOut(q, known, there), err
		}
		if waitErr := t.s.Repo.Maintenance.AwaitGC(ctx); waitErr != nil {
			q.Close(ctx)
			return nil, waitErr
		}
		if err == nil && (len(q.Left) == 0 || try >= checkpoint.Attempts) {
			if err = connected(ctx, t.s.Repo, slices.Collect(maps.Values(q.Got))); err == nil {
				return t.leftOut(q, known, there), nil
			}
		}
		q.Close(ctx)
		if try >= checkpoint.Attempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// refusedBefore removes from want the refs with an object that git refused before, and what belongs
// to such a journal. It returns the refs that were refused.
func (t *transfer) refusedBefore(want *[]name.Ref, there *remote.Listing) map[name.Ref]remote.Refusal {
	// After a day it asks again: another version of git may take them.
	if m := &t.memory; m.RefusedSince == nil || t.s.Store.Now().Sub(m.RefusedSince.Time).Abs() > 24*time.Hour {
		m.Refused, m.RefusedSince = nil, nil
	}
	known := map[name.Ref]remote.Refusal{}
	for _, ref := range *want {
		if why := t.memory.Refused[there.ValueOf(ref)]; why != "" {
			known[ref] = remote.Refusal{Why: why, Sure: true}
		}
	}
	*want = slices.DeleteFunc(*want, func(ref name.Ref) bool {
		session, _, ours := name.SplitCheckpointRef(ref)
		return known[ref].Sure || ours && known[name.JournalRef(session)].Sure
	})
	return known
}

// leftOut reports and remembers what a fetch left out, known included, and returns q.
func (t *transfer) leftOut(q *remote.Quarantine, known map[name.Ref]remote.Refusal, there *remote.Listing) *remote.Quarantine {
	if q == nil {
		return nil
	}
	const maxRefused = 1000 // how many refused commits are remembered
	maps.Copy(q.Left, known)
	m := &t.memory
	for _, ref := range slices.Sorted(maps.Keys(q.Left)) {
		t.line(ref, OutcomeRejected, q.Left[ref].Why)
		if q.Left[ref].Sure && len(m.Refused) == 0 {
			m.Refused, m.RefusedSince = map[name.OID]string{}, &checkpoint.Time{Time: t.s.Store.Now()}
		}
		if oid := there.ValueOf(ref); q.Left[ref].Sure && oid != "" && len(m.Refused) < maxRefused {
			m.Refused[oid] = q.Left[ref].Why
		}
	}
	return q
}

// connected returns an error unless everything reachable from the commits is here. What the refs
// outside the quarantine reach is taken as complete and not walked again.
func connected(ctx context.Context, repo *git.Repo, commits []name.OID) error {
	args := []string{"rev-list", "--objects", "--stdin", "--quiet"}
	if repo.Promisor() != "" {
		args = append(args, "--exclude-promisor-objects")
	}
	args = append(args, "--not", "--exclude="+name.IncomingRoot+"*", "--all")
	if _, err := repo.Run(ctx, git.Cmd{Args: args, Stdin: git.Revisions(commits, nil)}); err != nil {
		return fmt.Errorf("look for everything that was fetched: %w", err)
	}
	return nil
}
