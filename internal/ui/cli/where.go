package cli

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
)

// whereFlag has two flags that select a checkpoint instead of a typed one: --where by an
// expression, --pick from a list on the screen. show, diff, fork and rollback embed it.
type whereFlag struct {
	Where *string `xor:"which" placeholder:"<expression>" help:"Instead of naming a checkpoint, take the newest live one that makes this expression true, as for list."`
	Pick  bool    `xor:"which" help:"Instead of naming a checkpoint, choose one from a list with a preview."`
}

// given reports whether one of the flags selects the checkpoint.
func (f whereFlag) given() bool { return f.Where != nil || f.Pick }

// refuse is the error for a flag together with what was typed.
func (f whereFlag) refuse(typed string) error {
	flag := "--where"
	if f.Pick {
		flag = "--pick"
	}
	return usage.Error(typed + " and " + flag + " cannot be used together")
}

// choose returns the checkpoint to use: typed if none of the flags was given, else the one that the
// flag selects. It may be empty if nothing was typed; what that means depends on the command.
func (f whereFlag) choose(ctx context.Context, app *App, s *checkpoint.Sessions, session, typed string) (string, error) {
	switch {
	case !f.given():
		return typed, nil
	case typed != "":
		return "", f.refuse("a checkpoint")
	case f.Pick:
		return pickOne(ctx, app, s, session, "Which checkpoint?", nil)
	}
	return inspect.Newest(ctx, s, session, *f.Where)
}
