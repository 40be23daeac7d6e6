package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
)

// ListCmd is "git checkpoint list". Its flags are filters.
type ListCmd struct {
	Session string `xor:"which" placeholder:"<name>" complete:"session" help:"Session to list instead of the active one."`
	All     bool   `xor:"which" help:"List the checkpoints of all sessions."`
	Type    string `placeholder:"<prefix>" help:"Only sessions whose name or kind of work begins with this; without --session, of all sessions."`
	Trigger string `placeholder:"<name>" complete:"trigger" help:"Only checkpoints with this trigger."`
	Status  string `placeholder:"<name>" complete:"status" help:"Only checkpoints with this status."`
	Step    *int   `placeholder:"<n>" help:"Only checkpoints of this step."`
	Since   string `placeholder:"<time>" help:"Only checkpoints made since then: a date, a time, or an age such as 30d or 12h."`
	Where   string `placeholder:"<expression>" help:"Only live checkpoints that make this expression over the record true."`
	Hidden  bool   `help:"Also list safety, discarded and invalid checkpoints, which a terminal and --where leave out."`
	Columns string `placeholder:"tokens" help:"Add a column: tokens, what each turn of an agent took, and its price."`
	Limit   int    `placeholder:"<n>" help:"Only this many, the newest."`
	jsonFlag
}

// Run prints the checkpoints of one or more sessions.
func (c *ListCmd) Run(ctx context.Context, app *App) error {
	from, err := since(c.Since, app.now())
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return usage.Error("--limit must be a number of 1 or more")
	}
	if c.Columns != "" && c.Columns != "tokens" {
		return usage.Error("--columns: there is no column \""+c.Columns+"\"", "git checkpoint list --columns tokens")
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
			Step: c.Step, Since: from, Where: c.Where, Hidden: hidden, Limit: c.Limit, Usage: c.Columns != "",
		})
		if err != nil {
			return err
		}
		// A rollback whose process was killed left files in a mixed state; the list says so on top.
		unfinished, err := inspect.UnfinishedRollback(s)
		if err != nil { // the file that describes it is damaged; the list is still good
			app.warn(err.Error())
		}
		said := s.MayFetch(ctx)
		if app.view.Layout == render.Tabbed && said != "" {
			app.warn(said) // a program expects rows only
		}
		return app.give(answer.Listed{Sessions: found, Unfinished: unfinished, Usage: c.Columns != "", MayFetch: said, Others: c.others(ctx, app, s, found)})
	})
}

// others returns the sessions beside the one that is listed, if nothing else than that was asked for.
func (c *ListCmd) others(ctx context.Context, app *App, s *checkpoint.Service, found []inspect.Listing) []checkpoint.OtherSession {
	if app.json || app.view.Layout == render.Tabbed || len(found) > 1 || c.All || c.Session != "" || c.Type != "" {
		return nil
	}
	if len(found) == 0 {
		return s.Others(ctx, "")
	}
	return s.Others(ctx, found[0].Session)
}
