package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/inspect"
)

// TranscriptCmd is "git checkpoint transcript": the conversations that checkpoints kept as an
// output.
type TranscriptCmd struct {
	Ref string `arg:"" optional:"" name:"ref" complete:"ref" help:"Print only what this checkpoint kept; default: all of the session."`
	sessionFlag
	jsonFlag
}

// Run prints the transcripts through the pager.
func (c *TranscriptCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	talks, err := inspect.Transcript(ctx, s.Sessions, c.Session, c.Ref)
	if err != nil {
		return err
	}
	return app.page(ctx, s.Repo, func(w io.Writer) error { return app.giveTo(w, answer.Talks(talks)) })
}
