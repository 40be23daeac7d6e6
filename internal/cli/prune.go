package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/retain"
)

// PruneCmd is prune, also called cleanup.
type PruneCmd struct {
	Session   string `xor:"which" placeholder:"<name>" complete:"session" help:"Session to prune instead of the one that is active here."`
	All       bool   `xor:"which" help:"Prune every session."`
	Keep      *int   `placeholder:"<n>" help:"Leave the newest ones, so many."`
	OlderThan string `placeholder:"<age>" help:"Drop only what is older: 30d, 12h, 2w."`
	MaxSize   string `placeholder:"<size>" help:"Drop the oldest ones until a session holds no more than this: 50m."`
	GC        bool   `name:"gc" help:"Run git gc afterwards, and say what became free and what still waits."`
	dryRunFlag
	jsonFlag
	quietFlag
}

// Help is the detail of prune.
func (*PruneCmd) Help() string {
	return `
Without ` + "`--keep`" + ` or ` + "`--older-than`" + ` the rules of the workflow decide. Pinned checkpoints never go, and the newest safety checkpoint of each worktree stays; other safety checkpoints, and what a rollback discarded, go after 30 days. The history still tells of what went.

Its objects are deleted by git, as far as nothing else holds them: by the first ` + "`git gc`" + ` after its grace, which is two weeks unless ` + "`gc.pruneExpire`" + ` says otherwise. ` + "`--gc`" + ` runs it, and says what became free and what still waits. What another program is writing at that moment is safe.

    git checkpoint prune -n
    git checkpoint prune --all --older-than 90d --gc`
}

// Run prunes and says what went and why.
func (c *PruneCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		done, err := retain.Prune(ctx, s, retain.PruneRequest{
			Session: c.Session, All: c.All, Keep: c.Keep, OlderThan: c.OlderThan, MaxSize: c.MaxSize, DryRun: c.DryRun, GC: c.GC,
		})
		if err != nil {
			return err
		}
		if c.DryRun {
			return app.give(answer.Pruned{Prune: done})
		}
		return app.confirmed(answer.Pruned{Prune: done})
	})
}
