package cli

import (
	"context"
	"fmt"
	"io"

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

// longestPayload is the largest event that is read, in bytes.
const longestPayload = 64 << 20

// Run handles one event. Whatever goes wrong here, even a panic, must not fail the agent.
func (c *AgentHookCmd) Run(ctx context.Context, app *App) (_ error) {
	defer func() {
		if p := recover(); p != nil {
			app.warn(fmt.Sprintf("hook: %v", p))
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
	payload, err := io.ReadAll(io.LimitReader(app.Terminal.In, longestPayload+1))
	if err != nil || len(payload) > longestPayload {
		return nil
	}
	happened := def.Read(event, payload)
	happened.Plugin = len(c.Words) > 2 && c.Words[2] == "plugin"
	if happened.Kind == "" && happened.Child == "" {
		return nil
	}
	app.Terminal.Environ = hook.Environ(app.Terminal.Environ)
	// stdout belongs to the agent's protocol, and stderr may be shown to the user or to the model.
	app.quiet = true
	_, _ = app.Terminal.Out.Write(heard(ctx, app, def, event, happened)) // the agent may not read the answer
	return nil
}

// heard passes an event to the first repository with consent among those that it may belong to. The
// event of a tool is also passed to the repository of the file that the tool wrote. It returns what
// to print for the agent.
func heard(ctx context.Context, app *App, def *agent.Definition, event string, happened agent.Event) []byte {
	getenv := func(key string) string {
		value, _ := app.Terminal.LookupEnv(key)
		return value
	}
	var said []byte
	var top string
	var handled bool
	handle := func(dir string) error {
		app.dir = dir
		return app.serve(ctx, func(s *checkpoint.Service) error {
			var answer []byte
			if answer, handled = hook.Handle(ctx, s, app.typedIn(s), def, event, happened); said == nil {
				said = answer
			}
			top = s.Repo.WorkTree
			return nil
		})
	}
	var closed error
	for _, dir := range hook.Directories(def, happened, getenv) {
		err := handle(dir)
		if handled {
			if other := hook.Beside(top, happened); other != "" {
				_ = handle(other) // the error is dropped: outside a repository a hook is silent
			}
			return said
		}
		if err != nil && closed == nil && hook.Concerns(def, happened, dir, err, app.Terminal.Environ) {
			closed = err
		}
	}
	return hook.Refused(def, event, happened, closed, getenv)
}
