package cli

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/setup"
	"git-checkpoint/internal/verb/travel"
)

// InitCmd is "git checkpoint init", which is optional: it sets git's configuration and installs
// hooks.
type InitCmd struct {
	ExcludeDecoration *bool  `negatable:"" help:"Keep the refs of checkpoints out of the names that git log shows; default: yes."`
	Notes             bool   `help:"Let git log show the records of checkpoints, which are JSON, below their messages."`
	Hooks             bool   `help:"Set up git hooks: a push of a branch sends its sessions, and a merge fetches them."`
	From              string `placeholder:"<path>" help:"Take over the settings of crunch, from its configuration file or the root of its project."`
	RemoteCheck       bool   `help:"Find out what the remote accepts, and change nothing here."`
	Remote            string `arg:"" optional:"" help:"Remote to check with --remote-check."`
	quietFlag
}

// Run sets the repository up and prints what was set. With --remote-check it only tests a remote.
func (c *InitCmd) Run(ctx context.Context, app *App) error {
	if c.RemoteCheck {
		return c.checkRemote(ctx, app, travel.Request{Remote: c.Remote, Ask: app.Terminal.Interactive()})
	}
	if c.Remote != "" {
		return usage.Error("a remote is only used with --remote-check")
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		request := setup.InitRequest{ExcludeDecoration: c.ExcludeDecoration == nil || *c.ExcludeDecoration, Notes: c.Notes, Hooks: c.Hooks}
		if c.From != "" {
			var warnings []string
			var err error
			if request.Settings, warnings, err = interop.Configuration(ctx, s.Rules, c.From); err != nil {
				return err
			}
			app.warnAll(warnings)
		}
		made, err := setup.Init(ctx, s.Rules, request)
		if err != nil {
			return err
		}
		return app.settings(made, "Set", "Everything was already set")
	})
}

// checkRemote pushes a ref of each kind that we use to a remote and deletes it again, and prints
// which of them the remote accepts: some hosts only take branches and tags.
func (*InitCmd) checkRemote(ctx context.Context, app *App, req travel.Request) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := travel.CheckRemote(ctx, s, req)
		for _, c := range found {
			if c.OK {
				if said := app.say("%s", c.What); said != nil {
					return said
				}
				continue
			}
			app.warn("the remote fails this check: " + c.What + " (" + c.Why + ")")
		}
		return err
	})
}

// settings prints the settings that were changed, one per line, or nothing's text if there are
// none.
func (a *App) settings(changed []string, verb, nothing string) error {
	if len(changed) == 0 {
		return a.say("%s", nothing)
	}
	for _, line := range changed {
		if err := a.say("%s: %s", verb, line); err != nil {
			return err
		}
	}
	return nil
}
