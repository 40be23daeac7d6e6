package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/setup"
)

// CompletionCmd is completion.
type CompletionCmd struct {
	Shell Shell `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is the detail of completion.
func (*CompletionCmd) Help() string {
	return `
The script completes ` + "`git checkpoint`" + ` too, together with git's own completion.

    source <(git checkpoint completion bash)
    git checkpoint completion zsh > "${fpath[1]}/_git-checkpoint"
    git checkpoint completion fish > ~/.config/fish/completions/git-checkpoint.fish`
}

// Run prints the script.
func (c *CompletionCmd) Run(app *App) error {
	return WriteCompletion(app.Terminal.Out, app.model, c.Shell)
}

// CompleteCmd answers the completion scripts.
type CompleteCmd struct {
	Kind   string  `arg:""`
	Prefix *string `arg:"" optional:""` // a shell completes an empty word too
}

// Run prints a line for each candidate. A shell that completes wants no errors.
func (c *CompleteCmd) Run(ctx context.Context, app *App) error {
	prefix := ""
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	candidates := func(s *checkpoint.Service) error {
		for _, candidate := range setup.Candidates(ctx, s, c.Kind, prefix) {
			if err := app.view.Line(app.Terminal.Out, render.Span{Text: candidate}); err != nil {
				return err
			}
		}
		return nil
	}
	if c.Kind == "command" {
		for _, node := range app.model.Children {
			if !node.Hidden {
				_ = app.view.Line(app.Terminal.Out, render.Span{Text: node.Name})
			}
		}
		return nil
	}
	_ = app.serve(ctx, candidates)
	return nil
}
