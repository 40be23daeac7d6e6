package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/attempt"
)

// ForkCmd is "git checkpoint fork": it makes attempts, each a linked worktree with a session of its
// own, and with --list and --remove it manages them. Package attempt does the work.
type ForkCmd struct {
	Ref     string   `arg:"" optional:"" complete:"ref" help:"Checkpoint to start from; default: the current one."`
	Dir     string   `arg:"" optional:"" complete:"file" help:"Directory of the new worktree; with --count, the directory that holds all of them."`
	Command []string `arg:"" optional:"" dashed:"the command goes after --" complete:"none" help:"Command to run in each worktree, after --; {} is replaced by the name of the attempt."`
	whereFlag
	sessionFlag
	Count       int      `brief:"" default:"1" placeholder:"<n>" help:"Number of attempts to make; default: 1."`
	Name        string   `brief:"" placeholder:"<name>" help:"Name of the attempt; default: step and letter, such as 4a."`
	Branch      string   `brief:"" short:"b" placeholder:"<branch>" help:"Create this branch in the new worktree; otherwise HEAD is detached."`
	SessionName string   `placeholder:"<name>" help:"Name of the attempt's session; default: such as <session>-4a."`
	CopyIgnored []string `brief:"" sep:"none" placeholder:"<pathspec>" complete:"file" help:"Copy these ignored files as well, such as node_modules."`
	NoCopy      bool     `help:"Do not copy the ignored files that .worktreeinclude names."`
	Chat        bool     `brief:"" help:"Also begin a conversation with the agent in each worktree that goes on from the checkpoint."`
	Jobs        int      `default:"1" placeholder:"<n>" help:"Number of commands to run at a time; default: 1."`
	List        bool     `brief:"" xor:"what" with:"yes" help:"List the attempts and other worktrees, also those that are gone."`
	Remove      string   `brief:"" xor:"what" with:"force,dry-run,yes" placeholder:"<name>" complete:"attempt" help:"Remove the worktree of an attempt; its files are captured first, and its session stays."`
	Force       bool     `help:"With --remove: remove it even if files, repositories or submodules in it are lost for good."`
	confirmFlags
	resultFlags
}

// Run makes attempts, lists them or removes one.
func (c *ForkCmd) Run(ctx context.Context, app *App) error {
	if c.Force && c.Remove == "" {
		return usage.Error("--force needs --remove", "a fork changes nothing that exists")
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		switch {
		case c.List:
			all, err := attempt.Worktrees(ctx, s.Sessions)
			return app.giveUnless(err, answer.Attempts{All: all})
		case c.Remove != "":
			return c.remove(ctx, app, s)
		}
		return c.fork(ctx, app, s)
	})
}

// fork makes the attempts and runs the command in each. If only some could be made, it prints those
// and then returns the error.
func (c *ForkCmd) fork(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.given() && c.Dir == "" { // --where stands for the checkpoint, so the one argument is the directory
		c.Ref, c.Dir = "", c.Ref
	}
	from, err := c.choose(ctx, app, s.Sessions, c.Session, c.Ref)
	if err != nil {
		return err
	}
	request := attempt.ForkRequest{
		Session: c.Session, Ref: from, Dir: c.Dir, Count: c.Count, Name: c.Name, Branch: c.Branch, SessionName: c.SessionName,
		CopyIgnored: c.CopyIgnored, Command: c.Command, Jobs: c.Jobs, Chat: c.Chat,
		NoCopy: c.NoCopy, IO: app.sideStreams(),
	}
	if request.Dir != "" {
		// The worktrees are made by git processes with other working directories.
		if request.Dir, err = filepath.Abs(filepath.Join(app.dir, request.Dir)); err != nil {
			return err
		}
	}
	if c.DryRun || c.alone() {
		planned, err := attempt.Foresee(ctx, s, request)
		if err != nil {
			return err
		}
		if agreed, err := app.agreed(ctx, answer.ToFork{Made: planned}, c.confirmFlags); !agreed {
			return err
		}
	}
	if !c.NoCopy && !c.Yes && !app.json && app.Terminal.Interactive() {
		if request.Included, err = app.included(ctx, s.Repo, "Copy"); err != nil {
			return err
		}
		request.NoCopy = request.Included == ""
	}
	made, err := attempt.Fork(ctx, s, request)
	err = cannotRun(app, err)
	if err != nil && len(made) == 0 {
		return err
	}
	if said := app.confirmed(answer.Forked{Made: made}); said != nil {
		return said
	}
	return cmp.Or(err, failedAmong(made))
}

// included asks whether to do something with the files that .worktreeinclude names, and returns the blob of
// the file if a person agrees to it, or has agreed before. It is "" if there is nothing to copy.
func (a *App) included(ctx context.Context, repo *git.Repo, does string) (name.OID, error) {
	inc, err := attempt.Include(ctx, repo)
	switch {
	case inc == nil || err != nil:
		return "", err
	case inc.Agreed || inc.TooMuch() != "":
		return inc.Blob, nil
	}
	if err := a.tell(a.Terminal.Out, answer.ToInclude{Files: inc.Files}); err != nil {
		return "", err
	}
	yes, err := a.Terminal.Confirm(ctx, fmt.Sprintf("%s %s (%s), which .worktreeinclude names and git ignores?", does, render.Count(len(inc.Files), "file", "files"), render.Size(inc.Bytes)))
	if err != nil || !yes {
		return "", err
	}
	return inc.Blob, nil
}

// alone reports whether the arguments say neither what to fork nor where. Then the user is asked
// first, because the result may not be what is expected.
func (c *ForkCmd) alone() bool {
	return c.Ref == "" && c.Dir == "" && !c.given() && len(c.Command) == 0 && c.Name == "" && c.Branch == "" && c.SessionName == "" && c.Count == 1
}

// failedAmong is the exit code for the commands that ran in the attempts: that of a single command,
// else 1 if any has failed. It is nil if all succeeded.
func failedAmong(made []attempt.Attempt) error {
	for _, a := range made {
		switch {
		case a.Run == nil || a.Run.Code == 0:
		case len(made) == 1:
			return exitCode(a.Run.Code)
		default:
			return exitCode(1)
		}
	}
	return nil
}

// remove shows what would be removed with an attempt's worktree, asks, and removes it.
func (c *ForkCmd) remove(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := attempt.PrepareRemoval(ctx, s, c.Remove)
	if err != nil {
		return err
	}
	shown := answer.Removal{Plan: plan}
	// A yes is easily said to a plan that nobody has read, so a loss needs a flag of its own.
	if len(plan.Lost) > 0 && !c.Force && !c.DryRun {
		return cmp.Or(app.give(shown), plan.Refusal())
	}
	if agreed, err := app.agreed(ctx, shown, c.confirmFlags); !agreed {
		return err
	}
	return app.confirmUnless(plan.Apply(ctx), answer.RemovedAttempt{Done: plan})
}
