package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/retain"
)

// PruneCmd is "git checkpoint prune", also called "cleanup".
type PruneCmd struct {
	Session   string `group:"common" xor:"which" placeholder:"<name>" complete:"session" help:"Session to prune instead of the active one."`
	All       bool   `xor:"which" help:"Prune all sessions."`
	Keep      *int   `placeholder:"<n>" help:"Keep the newest <n> of each session."`
	OlderThan string `placeholder:"<age>" help:"Prune only what is older than this: 30d, 12h, 2w."`
	MaxSize   string `placeholder:"<size>" help:"Prune the oldest ones until a session holds no more than this: 50m."`
	GC        bool   `name:"gc" help:"Run git gc afterwards, and say what it freed and what still waits."`
	confirmFlags
	resultFlags
}

// Run prunes and prints what was dropped and why. It asks first if flags or a size select what is
// removed; the rules of the workflow need no confirmation.
func (c *PruneCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := retain.PlanPrune(ctx, s, retain.PruneRequest{
		Session: c.Session, All: c.All, Keep: c.Keep, OlderThan: c.OlderThan, MaxSize: c.MaxSize, GC: c.GC, Unasked: app.typed != nil,
	})
	if err != nil {
		return err
	}
	planned := answer.Pruned{Prune: plan.Answer(), GC: c.GC}
	if c.DryRun {
		return app.give(planned)
	}
	chosen := c.All || c.Keep != nil || c.OlderThan != "" || c.MaxSize != "" || plan.Sized()
	// A plan that drops nothing needs no confirmation.
	if chosen && !c.Yes && len(planned.Prune.Pruned) > 0 {
		if err := app.confirm(ctx, planned, c.yesFlag); err != nil {
			return err
		}
	}
	done, err := plan.Apply(ctx)
	return app.confirmUnless(err, answer.Pruned{Prune: done, GC: c.GC})
}
