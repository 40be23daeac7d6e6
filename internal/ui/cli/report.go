package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/report"
)

// ReportCmd is "git checkpoint report": what is behind the commits of a range, for reviewers.
type ReportCmd struct {
	Range string   `arg:"" optional:"" name:"range" help:"Commits as for git log, such as origin/main..; default: what the branch's upstream does not have."`
	Paths []string `arg:"" optional:"" name:"path" dashed:"" complete:"file" help:"With --check: count only lines of these files."`
	sessionFlag
	Check  []string `sep:"none" placeholder:"<condition>" help:"Exit with 6 unless this holds for the lines of the commits, such as 'none == 0'; can be repeated."`
	Format string   `enum:"markdown,html,json" default:"markdown" placeholder:"<format>" help:"Format: markdown, html or json."`
	jsonFlag
}

// Run prints the report.
func (c *ReportCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	progress := app.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	req := report.Request{Range: c.Range, Session: c.Session, Progress: func(n int) { progress.Add(int64(n)) }}
	app.json = app.json || c.Format == "json"
	switch {
	case len(c.Check) > 0 && c.Session != "":
		return checkpoint.Usage("", "--check counts the lines of all sessions: leave out --session")
	case len(c.Check) > 0:
		return app.judged(ctx, s, report.Gate{Range: c.Range, Checks: c.Check, Paths: c.Paths, Progress: req.Progress})
	case len(c.Paths) > 0:
		return checkpoint.Usage("", "paths go with --check")
	}
	made, err := report.Make(ctx, s, req)
	return app.giveUnless(err, answer.Report{Answer: made, Page: c.Format == "html"})
}

// judged prints whether the conditions hold, and exits with rejectedSaid if one does not.
func (a *App) judged(ctx context.Context, s *checkpoint.Service, gate report.Gate) error {
	verdict, err := report.Judge(ctx, s, gate)
	if err != nil {
		return err
	}
	if err := a.give(answer.Verdict{Verdict: verdict}); err != nil || verdict.Holds() {
		return err
	}
	return rejectedSaid
}
