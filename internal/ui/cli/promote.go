package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/rollback"
)

// PromoteCmd is "git checkpoint promote": it brings the result of an attempt (see fork.go) into
// this worktree. It works like a rollback to a checkpoint of another session, so it can be undone.
type PromoteCmd struct {
	Attempt          string   `arg:"" complete:"attempt" help:"Attempt, by its name, its session or its directory; with --merge also a checkpoint of another line of the session."`
	Paths            []string `arg:"" optional:"" name:"path" dashed:"" complete:"file" help:"Bring only these files."`
	StateOnly        bool     `group:"workflow" xor:"mode" help:"Bring only the state, no files."`
	Merge            bool     `brief:"" xor:"mode" help:"Merge with what changed here since the fork; refused if there are conflicts."`
	Conflicts        bool     `brief:"" help:"With --merge: write conflicts into the files, with markers."`
	OverwriteIgnored bool     `help:"Capture ignored files that are in the way, then overwrite them."`
	Message          string   `brief:"" short:"m" placeholder:"<text>" help:"Message of the checkpoint."`
	Reason           string   `placeholder:"<text>" help:"Reason to record in the history."`
	Plan             string   `group:"program" placeholder:"<digest>" help:"Go on only if the plan still has this digest, which --dry-run --json shows."`
	confirmFlags
	resultFlags
}

// Run prints the plan, asks, and applies it.
func (c *PromoteCmd) Run(ctx context.Context, app *App) error {
	request, err := c.request()
	if err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := attempt.PreparePromotion(ctx, s, request)
		if err != nil {
			return err
		}
		planned, err := toShow(ctx, app, plan, c.Plan, c.confirmFlags)
		if err != nil {
			return err
		}
		if agreed, err := app.agreed(ctx, planned, c.confirmFlags); !agreed {
			return err
		}
		done, err := plan.Apply(ctx)
		if err != nil {
			return err
		}
		app.warnAll(done.Created.Warnings)
		return app.confirmed(answer.Promoted{Done: done})
	})
}

// request turns the flags into a request, and refuses combinations that contradict each other.
func (c *PromoteCmd) request() (attempt.PromoteRequest, error) {
	r := attempt.PromoteRequest{
		Attempt: c.Attempt, Mode: rollback.ModeAll, Paths: c.Paths, Message: c.Message, Reason: c.Reason, OverwriteIgnored: c.OverwriteIgnored, DryRun: c.DryRun,
	}
	switch {
	case c.Conflicts && !c.Merge:
		return r, usage.Error("--conflicts needs --merge")
	case c.StateOnly && len(c.Paths) > 0:
		return r, usage.Error("--state-only moves no files, so it takes no paths")
	case c.Merge && c.Conflicts:
		r.How = attempt.MergeConflict
	case c.Merge:
		r.How = attempt.MergeClean
	}
	if c.StateOnly {
		r.Mode = rollback.ModeState
	}
	return r, nil
}
