package cli

import (
	"context"
	"slices"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/setup"
)

// DeinitCmd is "git checkpoint deinit", the reverse of init and of "agent add". With --all it also
// deletes everything that checkpoints left in the repository.
type DeinitCmd struct {
	All bool `help:"Also delete all sessions, with their checkpoints, notes and tags."`
	confirmFlags
	quietFlag
}

// preview shows what would be removed and what would stay, and changes nothing.
func (c *DeinitCmd) preview(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := connect.PlanDeinit(s)
	if err != nil {
		return err
	}
	going, err := setup.Leaving(ctx, s.Rules, c.All)
	if err != nil {
		return err
	}
	stays, err := setup.Stays(ctx, s.Rules, c.All)
	if err != nil {
		return err
	}
	if c.All {
		made, err := attempt.List(ctx, s.Store)
		if err != nil {
			return err
		}
		for _, a := range made {
			if a.Worktree != "" {
				stays = append(stays, "the worktree "+a.Worktree+" of attempt "+a.Name+": git worktree remove")
			}
		}
	}
	return app.give(answer.Leaving{Going: append(hooksOf(plan), going...), Stays: stays})
}

// hooksOf names the agents whose hooks are removed.
func hooksOf(plan *connect.Plan) (names []string) {
	for _, a := range plan.Agents {
		if line := "hooks of " + a.Agent.Title; a.Changes() && !slices.Contains(names, line) {
			names = append(names, line)
		}
	}
	return names
}

// disconnect removes our hooks from the settings of coding agents in this worktree, and says of which
// agents. It must run before setup.Deinit, which forgets what "agent add" had added.
func (c *DeinitCmd) disconnect(ctx context.Context, app *App, s *checkpoint.Service) (gone []string, err error) {
	plan, err := connect.PlanDeinit(s)
	if err != nil || !plan.Changes() {
		return nil, err
	}
	shown := answer.Connected{Plan: plan, Name: func(file string) string { return connect.Relative(s.Rules, file) }}
	if err := app.confirm(ctx, shown, c.yesFlag); err != nil {
		return nil, err
	}
	return hooksOf(plan), plan.Apply(ctx)
}

// Run shows what --all would delete and asks, then takes out hooks and configuration.
func (c *DeinitCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.DryRun {
		return c.preview(ctx, app, s)
	}
	if c.All {
		going, err := setup.Leaving(ctx, s.Rules, c.All)
		if err == nil && !c.Yes { // with --yes the answer at the end is enough
			err = app.confirm(ctx, answer.RefsToDelete(going), c.yesFlag)
		}
		if err != nil {
			return err
		}
	}
	// Order matters: Deinit forgets which hooks "agent add" had installed.
	hooks, err := c.disconnect(ctx, app, s)
	if err != nil {
		return err
	}
	gone, err := setup.Deinit(ctx, s.Rules, c.All)
	if err != nil {
		return err
	}
	return app.settings(append(hooks, gone...), "Removed", "Nothing was set")
}
