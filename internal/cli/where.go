package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
)

// whereFlag stands for a checkpoint.
type whereFlag struct {
	Where *string `placeholder:"<expression>" help:"Instead of a checkpoint: the newest live one that makes this expression true, as in list."`
}

// choose gives the checkpoint that was typed, or the one of --where.
func (f whereFlag) choose(ctx context.Context, s *checkpoint.Service, session, typed string) (string, error) {
	switch {
	case f.Where == nil:
		return typed, nil
	case typed != "":
		return "", usageError("a checkpoint and --where exclude each other")
	}
	return inspect.Newest(ctx, s, session, *f.Where)
}
