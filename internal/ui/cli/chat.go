package cli

import (
	"context"
	"io"
	"strings"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/core/checkpoint"
)

// ChatCmd is "git checkpoint chat <text>": it runs a command that a person typed into the chat of a
// coding agent, such as *rollback:3. An agent hook passes every prompt to it, so it stays silent,
// with exit code 8, if the text holds no such command. Package chat parses and runs the commands.
type ChatCmd struct {
	Text []string `arg:"" optional:"" verbatim:"" complete:"none" help:"Text that was typed; put -- before it if it may begin with a dash."`
}

// Run runs the command in the text, if there is one.
func (c *ChatCmd) Run(ctx context.Context, app *App) error {
	words := c.Text
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	typed, ours := chat.Parse(strings.Join(words, " "))
	if !ours {
		if len(words) > 0 {
			app.serve(ctx, func(s *checkpoint.Service) error { chat.Heard(s); return nil }) //nolint:errcheck // what is none of ours is silent
		}
		return nothingSaid
	}
	err := app.serve(ctx, func(s *checkpoint.Service) error {
		said, err := chat.Do(ctx, s, typed)
		if said != nil {
			if _, err := io.WriteString(app.Terminal.Out, said.Text(app.now())); err != nil {
				return err
			}
		}
		return err
	})
	// A command such as "y" that only counts as the whole text is also an ordinary prompt, so it
	// must not cause an error outside a repository, nor when nothing was asked.
	if kind := checkpoint.KindOf(err); err != nil && (typed.Alone && kind == checkpoint.KindUnusable || kind == checkpoint.KindNothing && err.Error() == "") {
		return nothingSaid
	}
	return err
}

// nothingSaid is the exit code for a text without a command. It is the code of
// checkpoint.KindNothing.
const nothingSaid exitCode = 8
