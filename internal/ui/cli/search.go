package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/inspect"
)

// SearchCmd is "git checkpoint search": words in everything that sessions keep of a conversation.
type SearchCmd struct {
	Words []string `arg:"" help:"Words that a text must have, all of them; case does not count."`
	sessionFlag
	jsonFlag
}

// Run prints each text that has the words.
func (c *SearchCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	found, err := inspect.Search(ctx, s.Sessions, c.Session, c.Words)
	if err != nil {
		return err
	}
	return app.page(ctx, s.Repo, func(w io.Writer) error { return app.giveTo(w, answer.Search(found)) })
}
