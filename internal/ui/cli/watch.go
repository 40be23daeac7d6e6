package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"git-checkpoint/internal/agents/watch"
	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/mapped"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
)

// WatchCmd is "git checkpoint watch": it makes a checkpoint whenever files have changed and then
// been quiet. Package watch observes the directories and calls back into this file, which opens the
// repository anew for each checkpoint, so that a long run sees changes of settings and refs.
type WatchCmd struct {
	Settle  time.Duration `default:"3s" placeholder:"<duration>" help:"How long files must stay unchanged; default: 3s."`
	Every   time.Duration `default:"10m" placeholder:"<duration>" help:"Look this often even without an event; default: 10m."`
	Session string        `placeholder:"<name>" complete:"session" help:"Session to add the checkpoints to."`
	quietFlag
}

// Run watches until it is interrupted, and prints how many checkpoints it made.
func (c *WatchCmd) Run(ctx context.Context, app *App) error {
	if c.Settle <= 0 || c.Every <= 0 {
		return usage.Error("--settle and --every need durations such as 3s or 10m")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	mapped.Never()           // this process may make checkpoints for days
	app.installSignals = nil // Ctrl+C must end the watch, but not a checkpoint that is being made
	var top string
	var own *git.OwnDirs
	var release func()
	err := app.serve(ctx, func(s *checkpoint.Service) (err error) {
		// BeWatcher takes the lock that lets one watcher run per worktree.
		top, own = s.Repo.WorkTree, s.Repo.OwnDirs()
		release, err = inspect.BeWatcher(s.Repo)
		return err
	})
	if err != nil {
		return err
	}
	defer release()
	made := 0
	w := &watch.Watcher{
		Top: top, Own: own, Settle: c.Settle, Every: c.Every, Say: app.warn,
		Ignored: func(ctx context.Context, dirs []string) (ignored map[string]bool, err error) {
			err = app.serve(ctx, func(s *checkpoint.Service) error {
				ignored, err = inspect.Ignored(ctx, s.Repo, dirs)
				return err
			})
			return ignored, err
		},
		// A checkpoint that has begun is finished although the watch is being ended.
		Save: func(ctx context.Context) error { return c.save(context.WithoutCancel(ctx), app, &made) },
	}
	if err := app.say("Watching %s: a checkpoint %s after files stop changing; Ctrl+C ends it", top, c.Settle); err != nil {
		return err
	}
	err = w.Run(ctx)
	if said := app.say("Made %s", render.Count(made, "checkpoint", "checkpoints")); err == nil {
		err = said
	}
	return err
}

// save makes a checkpoint, unless nothing changed, and counts it in made.
func (c *WatchCmd) save(ctx context.Context, app *App, made *int) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		request := create.Request{Session: c.Session, Trigger: "watch", Selection: create.Selection{Automatic: true}, Comparison: create.Comparison{SkipUnchanged: true}}
		amount := app.measuring(ctx, s, &request)
		detail, err := create.Checkpoint(ctx, s, request)
		if checkpoint.KindOf(err) == checkpoint.KindNothing {
			return nil
		}
		if err != nil {
			return err
		}
		*made++
		detail.Amount = amount()
		return app.confirmed(answer.Created{Detail: detail})
	})
}
