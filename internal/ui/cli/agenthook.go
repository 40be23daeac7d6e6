package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"git-checkpoint/internal/agents/hook"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
)

// AgentHookCmd is "git checkpoint hook <agent> <event>", which coding agents run when something
// happens in them: a prompt, a tool call, the end of a turn. It reads the event as JSON from stdin.
// Package agent reads each agent's format, package hook decides what the event leads to.
//
// The agent waits for this process and may show its output to the user or fail because of its exit
// code. So it always exits with 0, prints only what the agent understands, has a deadline, and
// writes problems to a log in the git directory, which "agent list" reads.
type AgentHookCmd struct {
	Words []string `arg:"" optional:"" name:"words" verbatim:"" help:"Name of the agent, then name of the event."`
}

// Run handles one event. Whatever goes wrong here, even a panic, must not fail the agent.
func (c *AgentHookCmd) Run(ctx context.Context, app *App) (failed error) {
	const longestPayload = 64 << 20 // the largest event that is read, in bytes
	answers := false                // the agent takes success for a yes
	defer func() {
		if p := recover(); p != nil {
			failed = fmt.Errorf("hook: %v", p)
		}
		if failed != nil {
			app.warn(strings.Join(checkpoint.Lines(failed), "; "))
			failed = nil
			if answers {
				failed = exitCode(1)
			}
		}
	}()
	if len(c.Words) < 2 { // a mistake in a hook that a person wrote, not an event; it must not fail the agent either
		app.warn("hook takes the name of an agent and the name of an event; `git checkpoint agent list` shows the agents")
		return nil
	}
	event := c.Words[1]
	def, err := agent.Find(c.Words[0])
	if err != nil {
		return nil
	}
	payload, _ := io.ReadAll(io.LimitReader(app.Terminal.In, longestPayload)) //nolint:errcheck // then it is not all of it
	happened := def.Read(event, payload)
	happened.Plugin = len(c.Words) > 2 && c.Words[2] == "plugin"
	if happened.Kind == "" && happened.Child == "" {
		return nil
	}
	app.Terminal.Environ = hook.Environ(app.Terminal.Environ)
	if (happened.Kind == agent.KindWorktreeCreate || happened.Kind == agent.KindWorktreeRemove) && happened.Unread == "" {
		answers = true
		return app.worktree(ctx, def, event, happened)
	}
	// stdout belongs to the agent's protocol, and stderr may be shown to the user or to the model.
	app.quiet = true
	_, _ = app.Terminal.Out.Write(heard(ctx, app, def, event, happened)) // the agent may not read the answer
	return nil
}

// worktree handles the events with which an agent makes and removes a worktree. The agent takes the only line of
// stdout for its path, and a failure for a no.
func (a *App) worktree(ctx context.Context, def *agent.Definition, event string, happened agent.Event) (err error) {
	project, _ := a.Terminal.LookupEnv(def.ProjectVariable)
	for _, a.dir = range []string{project, cmp.Or(happened.Directory, ".")} {
		if a.dir == "" {
			continue
		}
		opened := false
		err = a.serve(ctx, func(s *checkpoint.Service) error {
			opened = true
			dir, err := hook.Worktree(ctx, s, def, event, happened)
			if strings.ContainsAny(dir, "\r\n") {
				return fmt.Errorf("%q cannot be told to the agent in one line", dir)
			}
			if dir != "" {
				_, err = fmt.Fprintln(a.Terminal.Out, dir)
			}
			return err
		})
		if opened {
			break
		}
	}
	return err
}

// heard passes an event to the first repository with consent among those that it may belong to. The
// event of a tool is also passed to the repository of the file that the tool wrote. It returns what
// to print for the agent.
func heard(ctx context.Context, app *App, def *agent.Definition, event string, happened agent.Event) []byte {
	const longestOpening = 3 * time.Second // how long git may take to open a repository before an event is given up
	getenv := func(key string) string {
		value, _ := app.Terminal.LookupEnv(key)
		return value
	}
	if hook.Spent(def, happened, getenv) {
		return hook.Refused(def, event, happened, hook.ErrSpent, "", getenv)
	}
	var said []byte
	var top string
	var handled bool
	handle := func(dir string) error {
		app.dir = dir
		opening, cancel := context.WithTimeoutCause(ctx, longestOpening, fmt.Errorf("git took more than %v to open the repository", longestOpening))
		s, err := app.open(opening)
		if slow := context.Cause(opening); err != nil && slow != nil {
			err = slow
		}
		cancel()
		if err != nil {
			return err
		}
		var answer []byte
		if answer, handled = hook.Handle(ctx, s, app.typedIn(s.Repo), def, event, happened); said == nil {
			said = answer
		}
		top = s.Repo.WorkTree
		return app.close(ctx, s, nil)
	}
	var closed error
	for _, dir := range hook.Directories(def, happened, getenv) {
		err := handle(dir)
		if handled {
			if other := hook.WorktreeOf(top, happened); other != "" {
				handled = false
				_ = handle(other) // the error is dropped: outside a repository a hook is silent
				if !handled && len(said) == 0 && happened.Kind == agent.KindTool {
					return hook.Refused(def, event, happened, nil, other, getenv)
				}
			}
			return said
		}
		if err != nil && closed == nil && hook.Concerns(def, happened, dir, err, app.Terminal.Environ) {
			closed = err
		}
	}
	return hook.Refused(def, event, happened, closed, "", getenv)
}
