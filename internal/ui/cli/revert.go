package cli

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/revert"
)

// RevertCmd is "git checkpoint revert": it takes back what some steps did, and leaves what others did
// since. A plan with conflicts is shown and refused.
type RevertCmd struct {
	Ref  string   `arg:"" optional:"" complete:"range" help:"Step to take back, or a range such as 4..6, both ends included; more may follow."`
	Rest []string `arg:"" optional:"" name:"path" dashed:"" more:"" complete:"range or file" help:"Take back only what was done to these files."`
	sessionFlag
	Since            string `brief:"" placeholder:"<ref>" complete:"ref" help:"Take back all that the session did after this checkpoint."`
	By               string `brief:"" placeholder:"<who>" complete:"session" help:"Take back only what this session or agent did, or what nobody known did: outside or me, unknown."`
	Conflicts        bool   `brief:"" help:"Write conflicts into the files, with markers."`
	State            bool   `group:"workflow" help:"Also take back what the steps changed in the state."`
	OverwriteIgnored bool   `help:"Capture ignored files that are in the way, then overwrite them."`
	Reason           string `placeholder:"<text>" help:"Reason to record in the history."`
	Plan             string `group:"program" placeholder:"<digest>" help:"Go on only if the plan still has this digest, which --dry-run --json shows."`
	confirmFlags
	filesFlag
	resultFlags
}

// Run prints the plan, asks, and applies it.
func (c *RevertCmd) Run(ctx context.Context, app *App) error {
	request := revert.Request{
		Session: c.Session, Since: c.Since, By: c.By, Conflicts: c.Conflicts, State: c.State,
		OverwriteIgnored: c.OverwriteIgnored, Reason: c.Reason, DryRun: c.DryRun,
	}
	request.AskHeld = app.Terminal.Interactive() && !c.Yes
	dashes := slices.Index(c.Rest, "--")
	if c.Ref != "" {
		request.Refs = append([]string{c.Ref}, c.Rest[:dashes]...)
	}
	request.Paths = c.Rest[dashes+1:]
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := revert.Prepare(ctx, s, request)
		if err != nil {
			return err
		}
		planned, err := toShow(ctx, app, plan.Plan, c.Plan, c.confirmFlags)
		if err != nil {
			return err
		}
		planned.Files = c.names()
		if plan.Held {
			app.warnAll([]string{"who made these changes is unknown"})
		}
		if plan.Refusal != nil {
			return cmp.Or(app.confirmed(planned.Unconfirmed()), plan.Refusal)
		}
		if agreed, err := app.agreed(ctx, planned, c.confirmFlags); !agreed {
			return err
		}
		done, err := plan.Apply(ctx)
		if err != nil {
			return err
		}
		app.warnAll(done.Created.Warnings)
		return app.confirmed(answer.Reverted{Done: done})
	})
}
