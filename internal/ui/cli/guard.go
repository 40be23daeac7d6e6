package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
)

// GuardCmd is "git checkpoint guard": lists the secrets in checkpoints or files, and allows some of
// them to leave this machine. Package clearance does the work, with the rules of package guard.
type GuardCmd struct {
	List  GuardListCmd  `cmd:"" default:"withargs" help:"List the secrets in checkpoints."`
	Check GuardCheckCmd `cmd:"" help:"Look for secrets in files."`
	Allow GuardAllowCmd `cmd:"" help:"Allow a secret to leave this machine."`
}

// GuardListCmd is "guard list", also what "guard" alone runs.
type GuardListCmd struct {
	Ref      string `arg:"" optional:"" complete:"ref" help:"List only those in this checkpoint; default: in all of the session."`
	All      bool   `help:"List those of all sessions."`
	Rules    bool   `help:"List the rules instead."`
	ExitCode bool   `help:"Exit with code 2 if there is a secret that is not allowed."`
	sessionFlag
	jsonFlag
}

// Run lists the secrets in one checkpoint, a session or all sessions; with --rules it lists the
// rules.
func (c *GuardListCmd) Run(ctx context.Context, app *App) error {
	if c.Rules {
		return app.give(answer.Rules(clearance.Rules()))
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := clearance.List(ctx, s, clearance.ListRequest{Ref: c.Ref, Session: c.Session, All: c.All})
		return app.guarded(ctx, s.Repo, err, answer.Guarded{Found: found, Verbose: app.verbose}, c.ExitCode)
	})
}

// GuardCheckCmd is "guard check".
type GuardCheckCmd struct {
	Files    []string `arg:"" optional:"" name:"file" complete:"file" help:"Files to scan; they need not be in a checkpoint, and no repository is needed. - is the standard input."`
	Staged   bool     `help:"Scan what the next commit would bring: the index, and not the worktree."`
	ExitCode bool     `help:"Exit with code 2 if there is a secret that is not allowed."`
	jsonFlag
}

// Run looks for secrets in files of the file system, whether or not a checkpoint holds them, or in what is staged.
func (c *GuardCheckCmd) Run(ctx context.Context, app *App) error {
	if c.Staged == (len(c.Files) > 0) {
		return usage.Error("name files, or give --staged", "git checkpoint guard check --staged")
	}
	err := app.serve(ctx, func(s *checkpoint.Service) error {
		look := func() (*clearance.Answer, error) { return clearance.Files(ctx, s, c.Files, app.Terminal.In) }
		if c.Staged {
			look = func() (*clearance.Answer, error) { return clearance.Staged(ctx, s) }
		}
		found, err := look()
		return app.guarded(ctx, s.Repo, err, answer.Guarded{Found: found}, c.ExitCode)
	})
	if c.Staged || !checkpoint.IsOutside(err) {
		return err
	}
	found, err := clearance.Files(ctx, nil, c.Files, app.Terminal.In)
	return app.guarded(ctx, nil, err, answer.Guarded{Found: found}, c.ExitCode)
}

// guarded prints what was found, unless the search failed, and warns of what could not be scanned.
// With exitCode it returns the code 2 if there is a secret that is not allowed.
func (a *App) guarded(ctx context.Context, repo *git.Repo, err error, answered answer.Guarded, exitCode bool) error {
	if err != nil {
		return err
	}
	for _, gap := range answered.Found.Gaps {
		a.warn("not scanned: " + gap)
	}
	give := func() error { return a.giveLong(ctx, repo, answered) }
	if repo == nil {
		give = func() error { return a.give(answered) }
	}
	if err := give(); err != nil {
		return err
	}
	for _, one := range answered.Found.Secrets {
		if exitCode && one.Allowed == "" {
			return differs
		}
	}
	return nil
}

// GuardAllowCmd is "guard allow".
type GuardAllowCmd struct {
	Target string `arg:"" name:"target" help:"File, directory or pattern such as '*.pem', in the worktree or in a checkpoint; id of a blob, or fingerprint from guard --json."`
	Reason string `required:"" placeholder:"<text>" help:"Why it may leave this machine."`
	User   bool   `help:"Allow it in all your repositories: write to your own configuration instead of this repository's."`
	resultFlags
}

// Run records in git's configuration that the secrets in a file or blob may leave.
func (c *GuardAllowCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	req := clearance.AllowRequest{Target: c.Target, Reason: c.Reason, Scope: clearance.ThisRepository}
	if c.User {
		req.Scope = clearance.AllRepositories
	}
	done, err := clearance.Allow(ctx, s, req)
	return app.confirmUnless(err, answer.Allowed{Done: done})
}
