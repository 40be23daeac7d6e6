package cli

import (
	"cmp"
	"context"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/rollback"
)

// HistoryCmd is "git checkpoint history": the journal of a session, event by event.
type HistoryCmd struct {
	Since  string     `arg:"" name:"commit" optional:"" help:"With --verify: a commit of the journal that you noted earlier."`
	Verify verifyFlag `placeholder:"<commit>" help:"Verify that the journal is complete, and that it still contains a commit that you noted earlier."`
	sessionFlag
	jsonFlag
}

// verifyFlag is --verify, a flag whose value is optional: --verify or --verify=<commit>. kong has
// no such flags, so it presents itself as a switch and takes the value from the scanner.
type verifyFlag struct {
	given bool
	since string
}

// IsBool tells kong that the flag may stand alone.
func (*verifyFlag) IsBool() bool { return true }

// Decode stores the value if one is attached to the flag.
func (f *verifyFlag) Decode(ctx *kong.DecodeContext) error {
	f.given = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		f.since = ctx.Scan.Pop().String()
	}
	return nil
}

// Run prints the events, or with --verify proves the journal.
func (c *HistoryCmd) Run(ctx context.Context, app *App) error {
	// "--verify <commit>" reaches us as a switch and an argument, "--verify=<commit>" as a flag
	// with a value. Both are accepted, but not together.
	if c.Since != "" && (!c.Verify.given || c.Verify.since != "") {
		return usage.Error("unexpected argument "+c.Since, "a commit is only used with --verify")
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.Verify.given {
			return c.verify(ctx, app, s.Sessions)
		}
		detail := inspect.DetailRows
		if app.json {
			detail = inspect.DetailNone
		}
		found, err := inspect.History(ctx, s.Sessions, c.Session, detail)
		if err != nil || app.json {
			return app.giveUnless(err, answer.Audit(found))
		}
		undo, redo, err := rollback.Next(ctx, s.Store)
		if err != nil {
			return err
		}
		for i, e := range found {
			switch {
			case undo != nil && undo.Event == e.OID:
				found[i].Next = "undo"
			case redo != nil && redo.Event == e.OID:
				found[i].Next = "redo"
			}
		}
		return app.giveLong(ctx, s.Repo, answer.Audit(found))
	})
}

// verify checks that each event has the id that names it, and that the journal still holds the
// commit that was given. It ends with code 5 if not.
func (c *HistoryCmd) verify(ctx context.Context, app *App, s *checkpoint.Sessions) error {
	found, err := repair.VerifyHistory(ctx, s, c.Session, cmp.Or(c.Since, c.Verify.since))
	if err != nil {
		return err
	}
	return cmp.Or(app.give(answer.Verified{Proof: found}), invalidIf(!found.OK))
}
