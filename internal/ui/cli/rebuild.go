package cli

import (
	"cmp"
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/repair"
)

// RebuildCmd is "git checkpoint rebuild": it regenerates what can be derived from intact data.
type RebuildCmd struct {
	Ref     string `arg:"" optional:"" complete:"ref" help:"Checkpoint to rebuild; default: all of the session."`
	Session string `xor:"which" placeholder:"<name>" complete:"session" help:"Session to rebuild instead of the active one."`
	All     bool   `xor:"which" apart:"ref" help:"Rebuild all sessions."`
	Upgrade bool   `help:"Also write records of older formats again in the current one, beside the old ones."`
	Yes     bool   `short:"y" help:"Adopt a rewritten checkpoint that you named without asking."`
	resultFlags
}

// Run prints each repair as soon as it is made, and ends with code 5 if something remains broken.
func (c *RebuildCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	request := repair.RebuildRequest{Ref: c.Ref, Session: c.Session, All: c.All, Migrate: c.Upgrade}
	request.Agree = func(differ []repair.Rewritten) error {
		return app.confirm(ctx, answer.Rewritten{Checkpoints: differ}, yesFlag{c.Yes})
	}
	said, broken := 0, 0
	err := repair.Rebuild(ctx, s, request, func(line repair.Rebuilt) error {
		if said++; !line.OK {
			broken++
		}
		return app.confirmed(answer.Rebuilt(line))
	})
	if err == nil && said == 0 && !app.json {
		err = app.say("Nothing to rebuild")
	}
	return cmp.Or(err, invalidIf(broken > 0))
}
