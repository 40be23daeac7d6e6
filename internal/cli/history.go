package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
)

// HistoryCmd is history.
type HistoryCmd struct {
	sessionFlag
	jsonFlag
}

// Help is the detail of history.
func (*HistoryCmd) Help() string {
	return `
The journal has every create, rollback, undo, pin and deletion with its time, actor and reason, also of checkpoints that are gone.`
}

// Run shows the journal.
func (c *HistoryCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := s.History(ctx, c.Session)
		if err != nil {
			return err
		}
		return app.give(answer.Audit(found))
	})
}
