package cli

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/resume"
	"git-checkpoint/internal/retain"
	"git-checkpoint/internal/session"
)

// SessionCmd is session and its commands.
type SessionCmd struct {
	Start   SessionStartCmd   `cmd:"" help:"Start a session and make it active here."`
	List    SessionListCmd    `cmd:"" default:"withargs" help:"List the sessions."`
	Show    SessionShowCmd    `cmd:"" help:"Show a session: its checkpoints and rollbacks."`
	Switch  SessionSwitchCmd  `cmd:"" help:"Make another session active in this worktree."`
	Close   SessionCloseCmd   `cmd:"" help:"End a session."`
	Archive SessionArchiveCmd `cmd:"" help:"Fold the refs of a closed session into one."`
	Delete  SessionDeleteCmd  `cmd:"" help:"Delete all checkpoints of a session; its history stays."`
}

// Help is the detail of session.
func (*SessionCmd) Help() string {
	return `
A session is one job: its checkpoints are numbered together. Each worktree has one that is active; ` + "`--session`" + ` and ` + "`GIT_CHECKPOINT_SESSION`" + ` choose another for one command.`
}

// SessionStartCmd is session start.
type SessionStartCmd struct {
	Name     string `arg:"" help:"Name of the session."`
	Workflow string `placeholder:"<name>" complete:"workflow" help:"Workflow that it follows."`
	Topic    string `placeholder:"<text>" help:"What it is about."`
	Branch   bool   `help:"Make a branch for it and switch to that."`
	Fresh    bool   `help:"Close an unfinished session of the same topic as abandoned."`
	jsonFlag
	quietFlag
}

// Run starts a session.
func (c *SessionStartCmd) Run(ctx context.Context, app *App) error {
	// A branch such as feat/login gives its session a name in the same way.
	if short, err := name.ParseSession(strings.ReplaceAll(c.Name, "/", "-")); err == nil && string(short) != c.Name {
		app.warn(fmt.Sprintf("a session's name has no /: %s is called %s", c.Name, short))
		c.Name = string(short)
	}
	request := session.Request{Name: c.Name, Workflow: c.Workflow, Topic: c.Topic, Branch: c.Branch, Fresh: c.Fresh}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if done, err := app.resumeInstead(ctx, s, &request); done || err != nil {
			return err
		}
		started, err := session.Start(ctx, s, request)
		if err != nil {
			return err
		}
		return app.changed(started, "Session started: %s")
	})
}

// resumeInstead shows a person the unfinished session of the same topic and asks: to
// resume that one is done instead of the start.
func (a *App) resumeInstead(ctx context.Context, s *checkpoint.Service, request *session.Request) (done bool, err error) {
	if request.Fresh || a.json || !a.Terminal.Interactive() {
		return false, nil
	}
	old, err := session.Unfinished(ctx, s, request.Topic)
	if err != nil || old == "" {
		return false, err
	}
	found, _ := resume.Do(ctx, s, resume.Request{Target: string(old)}) //nolint:errcheck // the answer says what is asked and refused
	if found == nil {
		return false, nil // nothing to resume there; the start says what it thinks of it
	}
	letter, err := a.resumeChoice(ctx, s, found)
	if err != nil {
		return false, err
	}
	chosen := resume.Request{Target: string(old), Choice: resume.Accept}
	switch letter {
	case 's':
		request.Fresh = true
		return false, nil
	case 'd':
		chosen.Choice = resume.Delete
	}
	told, err := resume.Do(ctx, s, chosen)
	if err != nil {
		return false, err
	}
	return letter != 'd', a.resumed(ctx, s, told)
}

// SessionListCmd is session list.
type SessionListCmd struct {
	jsonFlag
}

// Run lists the sessions.
func (c *SessionListCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := session.List(ctx, s)
		if err != nil {
			return err
		}
		return app.give(answer.Sessions(found))
	})
}

// SessionShowCmd is session show.
type SessionShowCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; the active one when not given."`
	jsonFlag
}

// Run shows the manifest.
func (c *SessionShowCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := session.Show(ctx, s, c.Name)
		if err != nil {
			return err
		}
		return app.give(answer.Session{Manifest: found})
	})
}

// SessionSwitchCmd is session switch.
type SessionSwitchCmd struct {
	Name string `arg:"" complete:"session" help:"Session to make active."`
	jsonFlag
	quietFlag
}

// Run makes a session active.
func (c *SessionSwitchCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		active, err := session.Switch(ctx, s, c.Name)
		if err != nil {
			return err
		}
		return app.changed(active, "Session active here: %s")
	})
}

// SessionCloseCmd is session close.
type SessionCloseCmd struct {
	Name   string `arg:"" optional:"" complete:"session" help:"Session; the active one when not given."`
	Status string `enum:"complete,failed,abandoned" default:"complete" placeholder:"<status>" help:"How it ended: complete, failed or abandoned."`
	jsonFlag
	quietFlag
}

// Run ends a session.
func (c *SessionCloseCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		closed, err := session.Close(ctx, s, c.Name, c.Status)
		if err != nil {
			return err
		}
		if err := app.changed(closed, "Session closed as "+c.Status+": %s"); err != nil || app.json || app.quiet {
			return err
		}
		return app.give(answer.PrunedByClose(closed.Pruned))
	})
}

// Help is the detail of session close.
func (*SessionCloseCmd) Help() string {
	return `
Checkpoints that the workflow does not keep of a session that ended so are pruned at once, and named; ` + "`checkpoint.autoPrune=false`" + ` keeps them. A workflow of the repository's own prunes here only where local or user configuration sets ` + "`checkpoint.autoPrune`" + `.`
}

// SessionArchiveCmd is session archive.
type SessionArchiveCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; the active one when not given."`
	jsonFlag
	quietFlag
}

// Help is the detail of session archive.
func (*SessionArchiveCmd) Help() string {
	return `
Every push to a remote reads the names of all refs there. A session that is closed does not need one for each checkpoint: one commit holds them all, ` + "`refs/checkpoints/<session>/archive`" + `, and ` + "`list`, `show`, `diff`, `rollback`" + ` work as before. The next push does the same at the remote. A checkpoint that is made later has a ref of its own, until the session is archived again.`
}

// Run archives a session.
func (c *SessionArchiveCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		archived, err := session.Archive(ctx, s, c.Name)
		if err != nil {
			return err
		}
		return app.changed(archived, "Session archived: %s")
	})
}

// SessionDeleteCmd is session delete.
type SessionDeleteCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; the active one when not given."`
	yesFlag
	jsonFlag
	quietFlag
}

// Run deletes what a session holds.
func (c *SessionDeleteCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := retain.PlanDeleteSession(ctx, s, c.Name)
		if err != nil {
			return err
		}
		return app.remove(ctx, plan, c.yesFlag, func() (*retain.Removed, error) { return retain.DeleteSession(ctx, s, c.Name) })
	})
}

// changed confirms what happened to a session.
func (a *App) changed(now *session.Manifest, sentence string) error {
	if a.json {
		return a.give(answer.Session{Manifest: now})
	}
	return a.say(sentence, now.Session)
}
