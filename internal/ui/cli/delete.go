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
	Old  bool     `brief:"" help:"Instead of naming checkpoints, delete old ones, as prune does."`
	pruneFlags
}

// Run shows what would be deleted, asks, and deletes it.
func (c *DeleteCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	switch {
	case c.Old && len(c.Refs)+len(c.Line) > 0:
		return usage.Error("--old chooses the checkpoints, so it takes no name")
	case c.Old:
		return (&PruneCmd{c.pruneFlags}).Run(ctx, app, s)
	case c.selects() || c.GC:
		return usage.Error("--all, --keep, --older-than, --max-size and --gc need --old")
	case len(c.Refs) > 0 && c.Line != "":
		return usage.Error("--line deletes a whole line, so it takes no other checkpoints")
	case len(c.Refs)+len(c.Line) == 0:
		return usage.Error("no checkpoint was named", "`git checkpoint list` shows them; `git checkpoint delete --old` deletes old ones")
	}
	var planned *retain.Removed
	var err error
	if c.Line != "" {
		planned, err = retain.PlanLine(ctx, s.Sessions, c.Session, c.Line)
	} else {
		planned, err = retain.PlanDelete(ctx, s.Sessions, c.Session, c.Refs)
	}
	if err != nil {
		return err
	}
	if c.DryRun {
		return app.give(answer.Deleted{Removed: planned, Planned: true})
	}
	return app.remove(ctx, s, planned, c.yesFlag)
}

// remove is what "delete" and "session delete" have in common: it prints the plan, asks, carries
// it out and prints what is gone. With --yes only the last is printed.
func (a *App) remove(ctx context.Context, s *checkpoint.Service, plan *retain.Removed, yes yesFlag) error {
	if !yes.Yes {
		if err := a.confirm(ctx, answer.Deleted{Removed: plan, Planned: true}, yes); err != nil {
			return err
		}
	}
	gone, err := plan.Apply(ctx, s)
	return a.confirmUnless(err, answer.Deleted{Removed: gone})
}

// PruneCmd is "git checkpoint prune", also called "cleanup".
type PruneCmd struct{ pruneFlags }

// pruneFlags are the flags of prune, and of delete --old.
type pruneFlags struct {
	Session   string `group:"common" xor:"which" placeholder:"<name>" complete:"session" help:"Session to prune instead of the active one."`
	All       bool   `xor:"which" help:"Prune all sessions."`
	Keep      *int   `placeholder:"<n>" help:"Keep the newest <n> of each session."`
	OlderThan string `placeholder:"<age>" help:"Prune only what is older than this: 30d, 12h, 2w."`
	MaxSize   string `placeholder:"<size>" help:"Prune the oldest ones until a session holds no more than this: 50m."`
	GC        bool   `name:"gc" help:"Run git gc afterwards, and say what it freed and what still waits."`
	confirmFlags
	resultFlags
}

// selects reports whether a flag says what is removed, so that somebody has to agree to it.
func (c *pruneFlags) selects() bool {
	return c.All || c.Keep != nil || c.OlderThan != "" || c.MaxSize != ""
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
	// A plan that drops nothing needs no confirmation.
	if (c.selects() || plan.Sized) && !c.Yes && len(planned.Prune.Pruned) > 0 {
		if err := app.confirm(ctx, planned, c.yesFlag); err != nil {
			return err
		}
	}
	done, err := plan.Apply(ctx)
	return app.confirmUnless(err, answer.Pruned{Prune: done, GC: c.GC})
}
