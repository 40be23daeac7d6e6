package travel

import (
	"context"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
)

// CheckRemote finds out what a host accepts, by pushing probe refs and deleting them again. An
// error together with a non-empty result means that checkpoints cannot be kept at the host as it is
// configured.
func CheckRemote(ctx context.Context, s *checkpoint.Service, req Request) ([]remote.Capability, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	tree, err := s.Repo.Trees.Write(ctx, nil)
	if err != nil {
		return nil, err
	}
	// With fixed dates and an empty tree every probe pushes the same commit, which the host may
	// keep.
	by := git.Signature{Name: "git-checkpoint", Email: "git-checkpoint@localhost", When: time.Unix(0, 0).UTC()}
	commit, err := s.Repo.Commits.Write(ctx, git.Commit{Tree: tree, Author: by, Committer: by, Message: "probe\n"})
	if err != nil {
		return nil, err
	}
	if places, err := t.remote.Destinations(ctx); err == nil && len(places) > 0 {
		t.remote.Place = places[0]
	}
	found, err := t.remote.Probe(ctx, commit)
	if err != nil {
		return found, unreachable(err)
	}
	// The first result is about refs below the configured prefix. The second is whether they are
	// shown or, if the host refuses them, whether the host takes branches instead.
	switch {
	case found[0].OK && len(found) > 1 && found[1].OK:
		return found, nil
	case found[0].OK:
		return found, checkpoint.Failure(checkpoint.KindFailed, "", "%s accepts checkpoints, but shows them to nobody", t.answer.Remote)
	case len(found) > 1 && found[1].OK:
		return found, checkpoint.Failure(checkpoint.KindFailed, "git config checkpoint.refPrefix refs/heads/checkpoints/ && git checkpoint init", "%s accepts no refs with names of their own", t.answer.Remote)
	}
	return found, checkpoint.Failure(checkpoint.KindFailed, "", "%s accepts no checkpoints", t.answer.Remote)
}
