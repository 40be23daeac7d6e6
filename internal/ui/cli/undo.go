package cli

import (
	"context"
	"strconv"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/rollback"
)

// UndoCmd is "git checkpoint undo". Rollbacks form a stack per worktree: each undo goes back one
// level, and redo goes forward again until a new rollback clears what was undone.
type UndoCmd struct {
	// Levels is a number, or the id of an event.
	Levels string `arg:"" optional:"" name:"n|event" help:"How many rollbacks to take back; or an event: take back everything up to that rollback."`
	To     string `brief:"" placeholder:"<ref>|<event>" complete:"ref" help:"Go back to before the rollback that went to this checkpoint or has this event."`
	walkFlags
}

// RedoCmd is "git checkpoint redo".
type RedoCmd struct {
	Levels string `arg:"" optional:"" name:"n" help:"How many undos to reverse."`
	walkFlags
}

// walkFlags are the flags that undo and redo share.
type walkFlags struct {
	List             bool   `brief:"" help:"List what can be undone and redone, starting with the next."`
	Force            bool   `brief:"" help:"Also take commits off the branch that were made since."`
	OverwriteIgnored bool   `help:"Capture ignored files that are in the way, then overwrite them."`
	Plan             string `group:"program" placeholder:"<digest>" help:"Go on only if the plan still has this digest, which --dry-run --json shows."`
	confirmFlags
	filesFlag
	resultFlags
}

// Run takes back one or more rollbacks.
func (c *UndoCmd) Run(ctx context.Context, app *App) error {
	request := rollback.UndoRequest{To: c.To}
	n, isNumber := levels(c.Levels)
	switch {
	case c.Levels != "" && c.To != "":
		return usage.Error("a number and --to cannot be used together")
	// A word that is not a number is the id of an event, as with --to.
	case isNumber:
		request.Levels = n
	case c.Levels != "":
		request.To = c.Levels
	}
	if isNumber && n < 1 {
		return usage.Error("undo needs a number of 1 or more")
	}
	return c.run(ctx, app, request)
}

// Run takes back one or more undos.
func (c *RedoCmd) Run(ctx context.Context, app *App) error {
	request := rollback.UndoRequest{Redo: true, Levels: 1}
	if c.Levels != "" {
		n, isNumber := levels(c.Levels)
		if !isNumber || n < 1 {
			return usage.Error("redo needs a number of 1 or more", "`git checkpoint redo --list` shows what can be redone")
		}
		request.Levels = n
	}
	return c.run(ctx, app, request)
}

// levels parses a number of levels. The same argument may be the id of an event, which is a commit
// id: one that consists of digits only has at least seven of them.
func levels(text string) (n int, isNumber bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && len(text) < 7
}

// run lists the levels, or plans the undo or redo and carries it out.
func (c *walkFlags) run(ctx context.Context, app *App, request rollback.UndoRequest) error {
	request.DryRun, request.Force, request.OverwriteIgnored = c.DryRun, c.Force, c.OverwriteIgnored
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.List {
			undo, redo, err := rollback.Levels(ctx, s.Store)
			return app.giveUnless(err, answer.Levels{Undo: undo, Redo: redo})
		}
		plan, err := rollback.PrepareUndo(ctx, s, request)
		if err != nil {
			return err
		}
		done, err := app.carryOut(ctx, plan, c.Plan, c.confirmFlags, c.filesFlag)
		if done == nil {
			return err
		}
		return app.confirmed(answer.RolledBack{Done: done})
	})
}
