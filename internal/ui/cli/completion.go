package cli

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/setup"
)

// CompletionCmd is "git checkpoint completion <shell>".
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the completion script.
func (c *CompletionCmd) Run(app *App) error { return usage.WriteCompletion(app.Terminal.Out, c.Shell) }

// CompleteCmd is the hidden command __complete, which the completion scripts call. Kind is what the
// words are: a whole line.
type CompleteCmd struct {
	Kind  string   `arg:"" enum:"line"`
	Words []string `arg:"" optional:"" dashed:""`
}

// Run prints one candidate per line. It drops errors: they would appear in the middle of the line
// that the user is typing. Outside a repository there are no values.
func (c *CompleteCmd) Run(ctx context.Context, app *App) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	values := func(kind, session, prefix string) (found []string) {
		switch kind { // what no repository is needed for
		case "agent":
			return agent.Names()
		case "format":
			return formatNames()
		case "export format":
			return append(formatNames(), interop.SQLite)
		}
		_ = app.serve(ctx, func(s *checkpoint.Service) error {
			found = setup.Candidates(ctx, s.Sessions, kind, session, prefix)
			return nil
		})
		return found
	}
	for _, line := range usage.Complete(app.model, words, values) {
		value, help, found := strings.Cut(line, "\t")
		value = render.Escape(value)
		if found {
			value += "\t" + render.Escape(help)
		}
		if _, err := fmt.Fprintln(app.Terminal.Out, value); err != nil {
			return fmt.Errorf("writing the candidates: %w", err)
		}
	}
	return nil
}
