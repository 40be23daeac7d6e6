package cli

import (
	"context"
	"io"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/inspect"
)

// CompareCmd is "git checkpoint compare": attempts, sessions or checkpoints as rows of a table,
// with their metrics. With --files it is a diff of two of them.
type CompareCmd struct {
	Names []string `arg:"" optional:"" name:"attempt|session|ref" complete:"attempt or ref" help:"What to compare; default: the attempts of the newest fork."`
	sessionFlag
	Metric []string `sep:"none" placeholder:"<name>" help:"Show only this metric; can be repeated."`
	Where  string   `placeholder:"<expression>" help:"Compare only those whose record makes this expression true."`
	Sort   string   `placeholder:"<column>" help:"Sort by a metric, step, files, lines or age, highest first; or by name."`
	Files  bool     `help:"Show which files differ between the two that are named."`
	jsonFlag
}

// Run prints the table, or with --files git's statistics of the differing files.
func (c *CompareCmd) Run(ctx context.Context, app *App) error {
	request := attempt.CompareRequest{Session: c.Session, Names: c.Names, Metrics: c.Metric, Where: c.Where, Sort: c.Sort}
	if err := checkpoint.RefuseEmptyNames(c.Names...); err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if c.Files {
			d, err := attempt.DiffOf(ctx, s, request)
			if err != nil {
				return err
			}
			if app.json {
				return app.give(answer.Compared{Difference: d})
			}
			return app.page(ctx, s.Repo, func(w io.Writer) error {
				return ended(inspect.PrintDiff(ctx, s, d, nil, []string{"--stat"}, app.git(w)))
			})
		}
		found, err := attempt.Compare(ctx, s, request)
		return app.giveUnless(err, answer.SideBySide{Found: found})
	})
}
