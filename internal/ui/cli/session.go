package cli

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/session"
)

// SessionCmd is "git checkpoint session", the group of commands that manage sessions.
type SessionCmd struct {
	Start   SessionStartCmd   `cmd:"" help:"Start a session and make it active here."`
	List    SessionListCmd    `cmd:"" default:"withargs" help:"List the sessions."`
	Show    SessionShowCmd    `cmd:"" help:"Show a session with its checkpoints and rollbacks."`
	Switch  SessionSwitchCmd  `cmd:"" help:"Make another session active in this worktree."`
	Close   SessionCloseCmd   `cmd:"" help:"Close a session."`
	Archive SessionArchiveCmd `cmd:"" help:"Combine the refs of a closed session into one."`
	Delete  SessionDeleteCmd  `cmd:"" help:"Delete all checkpoints of a session; its history stays."`
}

// SessionStartCmd is "session start".
type SessionStartCmd struct {
	Name     string `arg:"" help:"Name of the session."`
	Workflow string `placeholder:"<name>" complete:"workflow" help:"Workflow that the session follows."`
	Topic    string `placeholder:"<text>" help:"What the session is about."`
	Branch   bool   `help:"Create a branch for the session, and switch to it."`
	Fresh    bool   `help:"If another session on this topic is unfinished, close it as abandoned."`
	resultFlags
}

// Run starts a session and makes it active in this worktree.
func (c *SessionStartCmd) Run(ctx context.Context, app *App) error {
	// Session names cannot contain a slash, but people name a session after a branch such as
	// feat/login. Branches get their sessions in the same way.
	if short, err := name.ParseSession(strings.ReplaceAll(c.Name, "/", "-")); err == nil && string(short) != c.Name {
		app.warn(fmt.Sprintf("a session's name cannot contain /: %s is called %s", c.Name, short))
		c.Name = string(short)
	}
	request := session.Request{Name: c.Name, Workflow: c.Workflow, Topic: c.Topic, Branch: c.Branch, Fresh: c.Fresh}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		if done, err := app.resumeInstead(ctx, s, &request); done || err != nil {
			return err
		}
		started, err := session.Start(ctx, s, request)
		return app.changedUnless(err, started, "Session started: %s")
	})
}

// resumeInstead looks for an unfinished session of the same topic, shows it to the person and asks
// what to do with it. done reports that the person resumed it, so that no session is to be started.
// A choice to start fresh is stored in the request.
func (a *App) resumeInstead(ctx context.Context, s *checkpoint.Service, request *session.Request) (done bool, err error) {
	if request.Fresh || a.json || !a.Terminal.Interactive() {
		return false, nil
	}
	old, err := session.Unfinished(ctx, s.Sessions, request.Topic)
	if err != nil || old == "" {
		return false, err
	}
	found, _ := resume.Do(ctx, s, resume.Request{Target: string(old)}) //nolint:errcheck // the answer says what is asked and refused
	if found == nil {
		return false, nil // it cannot be resumed; session.Start decides what to do about it
	}
	choice, err := a.resumeChoice(ctx, s, found)
	if err != nil {
		return false, err
	}
	if request.Fresh = choice == resume.Fresh; request.Fresh {
		return false, nil
	}
	told, err := resume.Do(ctx, s, resume.Request{Target: string(old), Choice: choice, Ask: a.askElsewhere(false)})
	if err != nil {
		return false, err
	}
	return choice == resume.Accept, a.resumed(ctx, s, told)
}

// SessionListCmd is "session list", also what "session" alone runs.
type SessionListCmd struct {
	All bool `help:"Also those that are finished and have no checkpoints, and those that are due to be removed."`
	jsonFlag
}

// Run prints the sessions.
func (c *SessionListCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	found, err := session.List(ctx, s.Sessions)
	if err == nil && !c.All {
		found, err = session.Present(ctx, s.Rules, found)
	}
	return app.giveUnless(err, answer.Sessions(found))
}

// SessionShowCmd is "session show".
type SessionShowCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; default: the active one."`
	jsonFlag
}

// Run prints the manifest of a session: its checkpoints and rollbacks.
func (c *SessionShowCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	found, err := session.Show(ctx, s.Sessions, c.Name)
	return app.giveUnless(err, answer.Session{Manifest: found})
}

// SessionSwitchCmd is "session switch". It changes no files.
type SessionSwitchCmd struct {
	Name   string `arg:"" optional:"" complete:"session" help:"Session to make active."`
	Follow bool   `help:"End that a session stays here: the branch decides again."`
	resultFlags
}

// Run makes another session the active one of this worktree.
func (c *SessionSwitchCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if !c.Follow {
		active, err := session.Switch(ctx, s, c.Name)
		return app.changedUnless(err, active, "Session active here: %s")
	}
	if c.Name != "" {
		return usage.Error("--follow takes no name: the branch decides")
	}
	follows, err := session.Follow(ctx, s)
	if err == nil && follows.Session == "" {
		return app.changedUnless(nil, follows, "No session stays here%s; the next checkpoint begins one of the branch")
	}
	return app.changedUnless(err, follows, "This worktree follows its branch: %s")
}

// SessionCloseCmd is "session close".
type SessionCloseCmd struct {
	Name   string `arg:"" optional:"" complete:"session" help:"Session; default: the active one."`
	Status string `enum:"complete,failed,abandoned" default:"complete" placeholder:"<status>" help:"How it ended: complete (default), failed or abandoned."`
	resultFlags
}

// Run closes a session, and lists the checkpoints that were pruned because of that.
func (c *SessionCloseCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	closed, err := session.Close(ctx, s, c.Name, c.Status)
	if err := app.changedUnless(err, closed, "Session closed as "+c.Status+": %s"); err != nil || app.json || app.quiet {
		return err
	}
	return app.give(answer.PrunedByClose{Pruned: closed.Pruned, Expired: closed.Expired})
}

// SessionArchiveCmd is "session archive".
type SessionArchiveCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; default: the active one."`
	resultFlags
}

// Run replaces the refs of a session's checkpoints by one.
func (c *SessionArchiveCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	archived, err := session.Archive(ctx, s.Sessions, c.Name)
	return app.changedUnless(err, archived, "Session archived: %s")
}

// SessionDeleteCmd is "session delete".
type SessionDeleteCmd struct {
	Name string `arg:"" optional:"" complete:"session" help:"Session; default: the active one."`
	yesFlag
	resultFlags
}

// Run shows what would be deleted, asks, and deletes all checkpoints of a session. The journal
// stays.
func (c *SessionDeleteCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	plan, err := retain.WholeSession(ctx, s.Sessions, c.Name)
	if err != nil {
		return err
	}
	return app.remove(ctx, s, plan, c.yesFlag)
}

// changedUnless confirms a change of a session, unless the verb failed: with its manifest as JSON,
// else with a sentence, in which %s is the name of the session.
func (a *App) changedUnless(err error, now *session.Manifest, sentence string) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.give(answer.Session{Manifest: now})
	}
	return a.say(sentence, now.Session)
}
