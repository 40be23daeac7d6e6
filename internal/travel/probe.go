package travel

import (
	"context"
	"fmt"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
)

// Capability is one thing that a host takes or does not.
type Capability struct {
	What string
	OK   bool
	Why  string
}

// CheckRemote finds out what a host takes. An error that comes with an answer is that
// checkpoints cannot be kept there as it is configured.
func CheckRemote(ctx context.Context, s *checkpoint.Service, req Request) ([]Capability, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	tree, err := s.Repo.WriteTree(ctx, nil)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	by := git.Signature{Name: "git-checkpoint", Email: "git-checkpoint@localhost", When: time.Unix(0, 0).UTC()}
	commit, err := s.Repo.WriteCommit(ctx, git.Commit{Tree: tree, Author: by, Committer: by, Message: "probe\n"})
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	if places, err := t.remote.Destinations(ctx); err == nil && len(places) > 0 {
		t.remote.Place = places[0]
	}
	found, err := t.remote.Probe(ctx, commit, s.Store.Random())
	var out []Capability
	for _, c := range found {
		out = append(out, Capability(c))
	}
	if err != nil {
		return out, unreachable(err)
	}
	switch {
	case found[0].OK && len(found) > 1 && found[1].OK:
		return out, nil
	case found[0].OK:
		return out, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: t.answer.Remote + " takes checkpoints and shows them to nobody"}
	case len(found) > 1 && found[1].OK:
		return out, &checkpoint.Error{
			Kind: checkpoint.KindFailed, Message: t.answer.Remote + " takes no refs of its own names",
			Hints: []string{"git config checkpoint.refPrefix refs/heads/checkpoints/"},
		}
	}
	return out, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%s takes no checkpoints", t.answer.Remote)}
}
