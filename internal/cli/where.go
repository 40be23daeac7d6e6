package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
)

// whereFlag stands for a checkpoint.
type whereFlag struct {
	Where *string `xor:"which" placeholder:"<expression>" help:"Instead of a checkpoint: the newest live one that makes this expression true, as in list."`
	Pick  bool    `xor:"which" help:"Instead of a checkpoint: choose one from a list, with a preview."`
}

// given reports whether a flag stands for the checkpoint.
func (f whereFlag) given() bool { return f.Where != nil || f.Pick }

// refuse says that the flag is one too many beside what was typed.
func (f whereFlag) refuse(typed string) error {
	flag := "--where"
	if f.Pick {
		flag = "--pick"
	}
	return usageError(typed + " and " + flag + " exclude each other")
}

// choose gives the checkpoint that was typed, or the one that the flags stand for.
func (f whereFlag) choose(ctx context.Context, app *App, s *checkpoint.Service, session, typed string) (string, error) {
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
