package cli

import (
	"cmp"
	"context"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/inspect"
)

// StatusCmd is "git checkpoint status".
type StatusCmd struct {
	ExitCode  bool `xor:"changes" help:"Exit with code 2 if files changed since the current checkpoint."`
	NoChanges bool `xor:"changes" help:"Do not look at the files of the worktree."`
	Porcelain bool `xor:"form" help:"Print one line for programs: session, number, label, changed files and marks, separated by tabs."`
	JSON      bool `name:"json" xor:"form" help:"Print the answer as JSON."`
	filesFlag
}

// Run prints where the job stands, and warns about hooks of coding agents that need attention.
func (c *StatusCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	look := inspect.LookAtFiles
	if c.NoChanges {
		look = inspect.LookAway
	}
	if c.Porcelain {
		brief, err := inspect.Brief(ctx, s, look)
		if err == nil {
			err = app.give(answer.Brief{Status: brief})
		}
		if err == nil && c.ExitCode && (brief.Changed > 0 || brief.ChangedUnknown) {
			err = differs
		}
		return err
	}
	found, err := inspect.Status(ctx, s, look)
	if err != nil {
		return app.damaged(found, err, c.names())
	}
	if !app.json {
		found.Others = s.Rules.Others(ctx, found.Session)
	}
	if err := app.give(answer.Stands{Status: found, Files: c.names()}); err != nil {
		return err
	}
	if !app.json {
		app.warnOfAgents(s.Rules)
	}
	if c.ExitCode && (len(found.Changed) > 0 || found.ChangedUnknown) {
		return differs
	}
	return nil
}

// warnOfAgents says what the user should know about coding agents here. A repository that was cloned may contain hooks
// of agents, which need the user's consent: that is said once, as connect.News remembers in the git directory.
func (a *App) warnOfAgents(s *checkpoint.Rules) {
	if news, err := connect.News(s); err == nil && len(news) > 0 {
		a.warn("this repository has hooks of " + strings.Join(news, ", ") + ", which do nothing until you agree: git checkpoint agent add " + news[0])
	}
	var removed string
	if told, err := checkpoint.Recall(s.Repo, connect.RemovedFile, &removed); told && err == nil && removed != "" {
		a.warn(removed)
		_ = checkpoint.Forget(s.Repo, connect.RemovedFile) // it is said again
	}
	for _, st := range connect.Troubled(s) {
		for _, w := range st.Warnings {
			a.warn(st.Title + ": " + w.Problem + " (" + w.Remedy + ")")
		}
	}
}

// damaged prints the status as far as it is known if the current checkpoint is damaged, and returns
// the error that says so.
func (a *App) damaged(found *inspect.StatusAnswer, err error, files answer.Files) error {
	if found == nil || found.Damaged == "" {
		return err
	}
	return cmp.Or(a.give(answer.Stands{Status: found, Files: files}), err)
}
