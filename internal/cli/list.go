package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/render"
)

// ListCmd is "git checkpoint list". Its flags are filters.
type ListCmd struct {
	Session string `xor:"which" placeholder:"<name>" complete:"session" help:"Session to list instead of the one that is active here."`
	All     bool   `xor:"which" help:"List every session."`
	Type    string `placeholder:"<prefix>" help:"Only sessions whose name, or kind of work, begins like this; of all, without --session."`
	Trigger string `placeholder:"<name>" complete:"trigger" help:"Only checkpoints with this trigger."`
	Status  string `placeholder:"<name>" complete:"status" help:"Only checkpoints with this status."`
	Step    *int   `placeholder:"<n>" help:"Only checkpoints of this step."`
	Since   string `placeholder:"<time>" help:"Only checkpoints made since then: a date, a time, or 30d, 12h."`
	Where   string `placeholder:"<expression>" help:"Only live checkpoints that make this expression over the record true."`
	Hidden  bool   `help:"Safety, discarded and invalid checkpoints too, which a terminal and --where leave out."`
	Limit   int    `placeholder:"<n>" help:"Only the newest ones, so many."`
	jsonFlag
}

// Help returns the long help text of "list", for -h and the man page.
func (*ListCmd) Help() string {
	return `
The column # is what you type for a checkpoint: 3 is step 3, 6.2 the second iteration of step 6, 3+1 the first one after step 3. At a terminal the newest comes first, * marks the current one, and what all rows have in common stands above them; ` + "`--hidden`" + ` shows what a rollback discarded, with its commit to type, and the safety checkpoints. Elsewhere every checkpoint is listed, the oldest first, with its id.

An expression names members of the record, and what ` + "`--json`" + ` says of a checkpoint: current, discarded, pinned, valid, commit, files. It sees safety, discarded and invalid checkpoints only if it asks for them.

    git checkpoint list --where 'state.metrics.build_pass' --limit 1
    git checkpoint list --where 'trigger == "safety" || discarded'`
}

// Run prints the checkpoints of one or more sessions.
func (c *ListCmd) Run(ctx context.Context, app *App) error {
	from, err := since(c.Since, app.now())
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return usageError("--limit takes a number from 1")
	}
	// A person sees only live checkpoints and a count of the others. A program gets all of them,
	// unless it filters by an expression.
	hidden := inspect.HiddenUnlessWhere
	switch {
	case c.Hidden:
		hidden = inspect.HiddenShown
	case app.view.Layout == render.Aligned && !app.json && c.Where == "":
		hidden = inspect.HiddenCounted
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := inspect.List(ctx, s, inspect.ListRequest{
			Session: c.Session, All: c.All, Type: c.Type, Trigger: c.Trigger, Status: c.Status,
			Step: c.Step, Since: from, Where: c.Where, Hidden: hidden, Limit: c.Limit,
		})
		if err != nil {
			return err
		}
		// A rollback whose process was killed left files in a mixed state; the list says so on top.
		unfinished, err := inspect.UnfinishedRollback(s)
		if err != nil { // the file that describes it is damaged; the list is still good
			app.warn(err.Error())
		}
		return app.give(answer.Listed{Sessions: found, Unfinished: unfinished})
	})
}
