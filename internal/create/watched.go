package create

import (
	"context"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/snapshot"
)

// captureWatched captures the worktree, and has the guard look at what that adds. Nothing
// is written before learned says so.
func captureWatched(ctx context.Context, c *creation) error {
	rules := snapshot.Rules{Ready: c.learned}
	var err error
	if !c.req.DryRun {
		if c.watch, err = clearance.WatchSave(ctx, c.s); err != nil {
			return err
		}
	}
	if c.watch != nil {
		rules.Look = c.watch.Saved.Look
	}
	if c.capture, err = capture(ctx, c.s, c.session, c.req, rules); err != nil || c.watch == nil {
		return err
	}
	return c.watch.Judge(ctx)
}

// excludedAlways are the pathspecs of checkpoint.exclude, which count from the top of the
// worktree.
func excludedAlways(s *checkpoint.Service) []string {
	var out []string
	for _, spec := range s.Repo.Config.All("checkpoint.exclude") {
		if !strings.HasPrefix(spec, ":") {
			spec = ":(top)" + spec
		}
		out = append(out, spec)
	}
	return out
}
