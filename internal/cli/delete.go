package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
)

// DeleteCmd is delete.
type DeleteCmd struct {
	Refs []string `arg:"" name:"ref" complete:"ref" help:"Checkpoints to delete, broken ones too."`
	sessionFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help is the detail of delete.
func (*DeleteCmd) Help() string {
	return `
The history still tells that they were there. Their objects are freed by the next ` + "`git gc`" + `, as far as nothing else holds them.`
}

// Run deletes checkpoints.
func (c *DeleteCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := s.PlanDelete(ctx, c.Session, c.Refs)
		if err != nil {
			return err
		}
		return app.remove(ctx, plan, c.yesFlag, func() (*checkpoint.Removed, error) { return s.Delete(ctx, c.Session, c.Refs) })
	})
}

// remove shows what would go, asks, and says what went, which is all that is to be said
// where nobody is asked.
func (a *App) remove(ctx context.Context, plan *checkpoint.Removed, yes yesFlag, do func() (*checkpoint.Removed, error)) error {
	if !yes.Yes {
		if err := a.confirm(ctx, answer.ToDelete{Removed: plan}, yes); err != nil {
			return err
		}
	}
	gone, err := do()
	if err != nil {
		return err
	}
	return a.confirmed(answer.Deleted{Removed: gone})
}
