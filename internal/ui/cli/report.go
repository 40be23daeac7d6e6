package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/report"
)

// ReportCmd is "git checkpoint report": what is behind the commits of a range, for reviewers.
type ReportCmd struct {
	Range string `arg:"" optional:"" name:"range" help:"Commits as for git log, such as origin/main..; default: what the branch's upstream does not have."`
	sessionFlag
	Format string `enum:"markdown,html,json" default:"markdown" placeholder:"<format>" help:"Format: markdown, html or json."`
	jsonFlag
}

// Run prints the report.
func (c *ReportCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	progress := app.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	made, err := report.Make(ctx, s, report.Request{Range: c.Range, Session: c.Session, Progress: func(n int) { progress.Add(int64(n)) }})
	if err != nil {
		return err
	}
	app.json = app.json || c.Format == "json"
	return app.give(answer.Report{Answer: made, Page: c.Format == "html"})
}
