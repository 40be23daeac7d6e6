package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/setup"
	"git-checkpoint/internal/travel"
)

// HookCmd is what the hooks of init --hooks run.
type HookCmd struct {
	Name string   `arg:"" enum:"pre-push,post-merge" help:"Which hook."`
	Args []string `arg:"" optional:"" passthrough:"" help:"What git gave it."`
}

// maxHookInput bounds what is read of a push: a line for each ref.
const maxHookInput = 16 << 20

// Run does the hook's work and says on stderr what came of it. The push or merge of the
// user goes on in any case.
func (c *HookCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
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
	})
}
