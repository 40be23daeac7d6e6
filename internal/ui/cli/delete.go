package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/retain"
)

// DeleteCmd is "git checkpoint delete". A tombstone in the journal remains of each checkpoint.
type DeleteCmd struct {
	Refs []string `arg:"" optional:"" name:"ref" complete:"ref" help:"Checkpoints to delete; they may be damaged."`
	Line string   `brief:"" placeholder:"<ref>" complete:"ref" help:"Delete what only the line of this checkpoint has, where a session went on in several places."`
	sessionFlag
	yesFlag
	resultFlags
}

// Run shows what would be deleted, asks, and deletes it.
func (c *DeleteCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, do := retain.PlanDelete, retain.Delete
	if c.Line != "" {
		if len(c.Refs) > 0 {
			return usage.Error("--line deletes a whole line, so it takes no other checkpoints")
		}
		c.Refs = []string{c.Line}
		plan, do = retain.PlanLine, retain.DeleteLine
	}
	planned, err := plan(ctx, s, c.Session, c.Refs)
	if err != nil {
		return err
	}
	return app.remove(ctx, planned, c.yesFlag, func() (*retain.Removed, error) { return do(ctx, s, c.Session, c.Refs) })
}

// remove is what "delete" and "session delete" have in common: it prints the plan, asks, calls do
// and prints what is gone. With --yes only the last is printed.
func (a *App) remove(ctx context.Context, plan *retain.Removed, yes yesFlag, do func() (*retain.Removed, error)) error {
	if !yes.Yes {
		if err := a.confirm(ctx, answer.Deleted{Removed: plan, Planned: true}, yes); err != nil {
			return err
		}
	}
	gone, err := do()
	return a.confirmUnless(err, answer.Deleted{Removed: gone})
}
