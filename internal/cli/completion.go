package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/setup"
)

// CompletionCmd is "git checkpoint completion <shell>".
type CompletionCmd struct {
	Shell Shell `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help returns the long help text of "completion", for -h and the man page.
func (*CompletionCmd) Help() string {
	return `
The script also completes ` + "`git checkpoint`" + `, together with git's own completion.

    source <(git checkpoint completion bash)
    git checkpoint completion zsh > "${fpath[1]}/_git-checkpoint"
    git checkpoint completion fish > ~/.config/fish/completions/git-checkpoint.fish`
}

// Run prints the completion script (see complete.go).
func (c *CompletionCmd) Run(app *App) error {
	return WriteCompletion(app.Terminal.Out, app.model, c.Shell)
}

// CompleteCmd is the hidden command __complete, which the completion scripts call for values that
// only the repository knows, such as sessions and checkpoints.
type CompleteCmd struct {
	Kind string `arg:""`
	// Prefix is the beginning of the word. A pointer, because a shell also completes an empty word,
	// which a plain string could not tell from a missing one.
	Prefix *string `arg:"" optional:""`
}

// Run prints one candidate per line. It drops errors: they would appear in the middle of the line
// that the user is typing.
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
	// Names of commands come from the grammar and need no repository.
	if c.Kind == "command" {
		for _, node := range app.model.Children {
			if !node.Hidden {
				_ = app.view.Line(app.Terminal.Out, render.Span{Text: node.Name})
			}
		}
		return nil
	}
	// Outside a repository there are no candidates.
	_ = app.serve(ctx, candidates)
	return nil
}
