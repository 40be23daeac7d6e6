package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/setup"
	"git-checkpoint/internal/verb/travel"
)

// HookCmd is the hidden command __hook, which the git hooks of "init --hooks" run. It must not be
// confused with "hook", which coding agents run (agenthook.go).
type HookCmd struct {
	Name string   `arg:"" enum:"pre-push,post-merge" help:"Which hook."`
	Args []string `arg:"" optional:"" passthrough:"" help:"What git gave it."`
}

// Run pushes or fetches the checkpoints that belong to the user's push or merge, and reports on
// stderr. The hook script ignores its exit code, so the user's own push goes on in any case.
func (c *HookCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	const maxHookInput = 16 << 20 // bounds, in bytes, the input that git gives a pre-push hook: a line for each ref
	var found *travel.Answer
	var err error
	if c.Name == "post-merge" {
		found, err = setup.PostMerge(ctx, s)
	} else {
		var input []byte
		if input, err = io.ReadAll(io.LimitReader(app.Terminal.In, maxHookInput)); err == nil && len(c.Args) > 0 {
			found, err = setup.PrePush(ctx, s, c.Args[0], string(input))
		}
	}
	if found != nil && len(found.Lines) > 0 && err == nil {
		return app.view.Line(app.Terminal.Err, render.Span{Text: travelCount(found)})
	}
	return err
}
