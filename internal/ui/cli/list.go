package cli

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/retain"
)

// ListCmd is "git checkpoint list". Its flags are filters.
type ListCmd struct {
	Session string `group:"common" xor:"which" placeholder:"<name>" complete:"session" help:"Session to list instead of the active one."`
	All     bool   `brief:"" xor:"which" help:"List the checkpoints of all sessions."`
	Type    string `group:"workflow" placeholder:"<prefix>" help:"Only sessions whose name or kind of work begins with this; without --session, of all sessions."`
	Trigger string `group:"workflow" placeholder:"<name>" complete:"trigger" help:"Only checkpoints with this trigger."`
	Status  string `group:"workflow" placeholder:"<name>" complete:"status" help:"Only checkpoints with this status."`
	Step    *int   `group:"workflow" placeholder:"<n>" help:"Only checkpoints of this step."`
	Since   string `brief:"" placeholder:"<time>" help:"Only checkpoints made since then: a date, a time, an age such as 30d or 12h, or as for git \"2 hours ago\" or \"last friday\"."`
	Where   string `group:"workflow" placeholder:"<expression>" help:"Only live checkpoints that make this expression over the record true."`
	Hidden  bool   `brief:"" help:"Also list safety, discarded and invalid checkpoints, which a terminal and --where leave out."`
	Columns string `brief:"" placeholder:"tokens" help:"Add a column: tokens, what each turn of an agent took, and its price."`
	Grep    string `brief:"" placeholder:"<word>" help:"Only checkpoints whose message or a changed path has this word, in any case."`
	Limit   *int   `brief:"" short:"n" placeholder:"<n>" help:"Only this many, the newest; -5 is short for -n 5, and 0 means all. At a terminal the default is a screenful."`
	Reverse bool   `help:"List the oldest first."`
	Format  string `group:"program" apart:"json" placeholder:"<format>" help:"Print each as this text, with %(number), %(id), %(message), %(subject), %(time), %(session) and %(by), and git's %h, %H, %s, %b, %B, %ad, %aI, %ct, %ar, %an, %ae, %P, %T, %n, %x00 and the like."`
	Null    bool   `short:"z" group:"program" apart:"json" help:"End each with a NUL; without --format: number, time, session, by and message with tabs between."`
	jsonFlag
}

// Run prints the checkpoints of one or more sessions.
func (c *ListCmd) Run(ctx context.Context, app *App) error {
	req, err := c.request(app)
	if err != nil {
		return err
	}
	rest := c.suit(app, &req)
	if c.Format != "" {
		req.Detail = inspect.DetailRows
	}
	return app.serve(ctx, func(s *checkpoint.Service) (err error) {
		if c.Since != "" && req.Since.IsZero() {
			if req.Since, err = inspect.GitTime(ctx, s.Store, c.Since); err != nil {
				return err
			}
		}
		found, err := inspect.List(ctx, s.Sessions, req)
		if err != nil {
			return err
		}
		if c.All || c.Type != "" || !retain.NoneDue(ctx, s.Rules) {
			if _, err := retain.WarnDue(ctx, s.Rules); err != nil {
				return err
			}
		}
		if c.Reverse && !app.json { // there the oldest is the first anyway
			for _, l := range found {
				slices.Reverse(l.Items)
			}
		}
		if !app.json {
			found = hereFirst(ctx, s.Sessions, found)
		}
		if c.Format != "" {
			return c.formatted(ctx, app, s.Repo, found)
		}
		// A rollback whose process was killed left files in a mixed state; the list says so on top.
		unfinished, err := inspect.UnfinishedRollback(s.Repo)
		if err != nil { // the file that describes it is damaged; the list is still good
			app.warn(err.Error())
		}
		said := s.Rules.MayFetch(ctx)
		if app.view.Layout == render.Tabbed && said != "" {
			app.warn(said) // a program expects rows only
		}
		listed := answer.Listed{Sessions: found, Unfinished: unfinished, Usage: c.Columns != "", MayFetch: said, Others: c.others(ctx, app, s.Rules, found), Rest: rest}
		if app.view.Layout == render.Aligned {
			listed.Gone = linked.Gone(ctx, s.Store)
		}
		return app.giveLong(ctx, s.Repo, listed)
	})
}

// formatted prints each checkpoint as the format says.
func (c *ListCmd) formatted(ctx context.Context, app *App, repo *git.Repo, found []inspect.Listing) error {
	fields, err := inspect.CommitFields(ctx, repo, found, answer.GitPlaceholders(c.Format))
	if err != nil {
		return err
	}
	return app.giveLong(ctx, repo, answer.Formatted{Sessions: found, Format: c.Format, Null: c.Null, Fields: fields})
}

// hereFirst puts the session that is worked on first.
func hereFirst(ctx context.Context, s *checkpoint.Sessions, found []inspect.Listing) []inspect.Listing {
	here, err := s.ChooseSession(ctx, "")
	if i := slices.IndexFunc(found, func(l inspect.Listing) bool { return l.Session == here }); err == nil && i > 0 {
		return slices.Concat(found[i:i+1], found[:i], found[i+1:])
	}
	return found
}

// request checks the flags and says what they ask for.
func (c *ListCmd) request(app *App) (req inspect.ListRequest, err error) {
	from, err := parseSince(c.Since, app.currentTime())
	if err != nil {
		return req, err
	}
	if c.Limit != nil && *c.Limit < 0 {
		return req, usage.Error("--limit must be a number of 1 or more, or 0 for all")
	}
	if c.Columns != "" && c.Columns != "tokens" {
		return req, usage.Error("--columns: there is no column \""+c.Columns+"\"", "git checkpoint list --columns tokens")
	}
	req = inspect.ListRequest{
		Session: c.Session, All: c.All, Type: c.Type, Trigger: c.Trigger, Status: c.Status,
		Step: c.Step, Since: from, Where: c.Where, Grep: c.Grep, Usage: c.Columns != "",
	}
	if c.Null {
		c.Format = cmp.Or(c.Format, "%(number)%x09%(time)%x09%(session)%x09%(by)%x09%(message)")
	}
	if c.Format != "" {
		if err := answer.CheckFormat(c.Format); err != nil {
			return req, usage.Error(err.Error(), "git checkpoint list -h shows its usage")
		}
	}
	return req, nil
}

// besideRows is how many lines of a screen the list needs besides its rows: those above and below
// them, the command that was typed and the next prompt.
const besideRows = 10

// suit completes the request for whoever reads the answer. A person sees only live checkpoints and a count of the
// others, and of these a screenful, unless flags say more; rest is the command that shows the older ones. A program
// gets all, but only live ones if it filters by an expression.
func (c *ListCmd) suit(app *App, req *inspect.ListRequest) (rest string) {
	if c.Limit != nil {
		req.Limit = *c.Limit
	}
	switch {
	case app.json:
	case app.view.Layout == render.Tabbed:
		req.Detail = inspect.DetailMessages
	default:
		req.Detail = inspect.DetailRows
	}
	if req.Detail == inspect.DetailRows && c.Where == "" {
		req.Hidden = inspect.HiddenCounted
	}
	if c.Hidden {
		req.Hidden = inspect.HiddenShown
	}
	if req.Detail != inspect.DetailRows || c.Type != "" || c.Trigger != "" || c.Status != "" || c.Step != nil || c.Since != "" || c.Where != "" || c.Grep != "" || c.Hidden {
		return "-n 0 shows all"
	}
	if c.Limit == nil && !c.All && app.Terminal.OutTerminal { // what git pages itself is not cut
		const fewest = 5
		req.Limit = max(app.Terminal.Height()-besideRows, fewest)
	}
	if c.Session != "" {
		return "git checkpoint list --session " + c.Session + " -n 0"
	}
	return "git checkpoint list --all"
}

// others returns the sessions other than the one that is listed. It returns none if the output is
// for a program, or if a flag asked for something more specific.
func (c *ListCmd) others(ctx context.Context, app *App, s *checkpoint.Rules, found []inspect.Listing) []checkpoint.OtherSession {
	if app.json || app.view.Layout == render.Tabbed || len(found) > 1 || c.All || c.Session != "" || c.Type != "" {
		return nil
	}
	if len(found) == 0 {
		return s.Others(ctx, "")
	}
	return s.Others(ctx, found[0].Session)
}
