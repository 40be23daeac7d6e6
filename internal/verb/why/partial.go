package why

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// complete fetches what a partial clone lacks of these objects, over one connection: git would open one for
// each of them. It returns those that are still missing. In other repositories it does nothing.
func complete(ctx context.Context, s *store.Store, oids []name.OID) (lacks map[name.OID]bool) {
	from := s.Repo.Promisor()
	if from == "" {
		return nil
	}
	seen := gather.SetOf(s.Repo.Objects.Batch().Absent(oids))
	missing := slices.Sorted(maps.Keys(seen))
	if len(missing) == 0 {
		return nil
	}
	lacking := fmt.Sprintf("this partial clone lacks files (%d)", len(missing))
	switch strings.ToLower(s.Repo.Getenv("GIT_NO_LAZY_FETCH")) {
	case "", "0", "false", "no", "off":
	default:
		s.Warn(lacking + ", and GIT_NO_LAZY_FETCH forbids fetching them: their lines are unknown")
		return seen
	}
	s.Warn(lacking + ": fetching them from " + name.Clip(from, name.Said))
	err := (&remote.Remote{Repo: s.Repo, Name: from}).FetchObjects(ctx, missing)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	s.Warn(checkpoint.MessageOf(err) + "; their lines are unknown")
	return seen
}

// CompletePath fetches the versions of a file in the history of a commit that a partial clone lacks, for git
// blame.
func CompletePath(ctx context.Context, s *store.Store, commit, path string) {
	if s.Repo.Promisor() == "" {
		return
	}
	out, err := s.Repo.Output(ctx, "--literal-pathspecs", "rev-list", "--objects", "--missing=print", commit, "--", path)
	if err != nil {
		return // git blame says what is wrong
	}
	var missing []name.OID
	for row := range strings.Lines(out) {
		if oid, is := strings.CutPrefix(strings.TrimSpace(row), "?"); is {
			missing = append(missing, name.OID(oid))
		}
	}
	complete(ctx, s, missing)
}

// filesOf returns the files in changes.
func filesOf(changes []git.Change) (oids []name.OID) {
	for _, c := range changes {
		for _, e := range []git.Entry{c.Old, c.New} {
			if isFile(e) {
				oids = append(oids, e.OID)
			}
		}
	}
	return oids
}

// complete fetches what the differences of these checkpoints need and a partial clone lacks.
func (b *build) complete(ctx context.Context, fresh []int) {
	if b.s.Repo.Promisor() == "" {
		return
	}
	wanted := b.records
	for _, i := range fresh {
		_, changes, committed, _ := b.changed(ctx, int32(i)) //nolint:gosec // bounded by the number of refs
		wanted = append(wanted, filesOf(changes)...)
		for _, c := range committed {
			if isFile(c.Old) {
				wanted = append(wanted, c.Old.OID)
			}
		}
	}
	b.x.lacks = complete(ctx, b.s, wanted)
}
