package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/chat"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/connect"
	"git-checkpoint/internal/hook"
	"git-checkpoint/internal/render"
)

// AgentHookCmd is "git checkpoint hook <agent> <event>", which coding agents run when something
// happens in them: a prompt, a tool call, the end of a turn. It reads the event as JSON from stdin.
// Package agent knows each agent's format, package hook decides what the event makes.
//
// The agent waits for this process and may show its output to the user or fail because of its exit
// code. So it always exits with 0, prints only what the agent understands, has a deadline, and
// writes problems to a log in the git directory, which "agent list" reads.
type AgentHookCmd struct {
	Words []string `arg:"" optional:"" name:"words" verbatim:"" help:"Name of the agent, then name of the event."`
}

// Help returns the long help text of "hook", for -h and the man page.
func (*AgentHookCmd) Help() string {
	return `
The first word names the agent; the second names the event as the agent calls it, as in ` + "`git checkpoint hook claude Stop`" + `. Reads the event from standard input, and makes the checkpoint that belongs to it. Prints either nothing or an answer in the agent's own format, and always exits with 0, so that it cannot stop the agent. ` + "`git checkpoint agent list`" + ` shows problems.`
}

// longestPayload is the largest event that is read, in bytes.
const longestPayload = 64 << 20

// Run handles one event. Whatever goes wrong here, even a panic, must not fail the agent: it
// returns an error only for missing arguments.
func (c *AgentHookCmd) Run(ctx context.Context, app *App) (_ error) {
	defer func() {
		if p := recover(); p != nil {
			app.warn(fmt.Sprintf("hook: %v", p))
		}
	}()
	if len(c.Words) < 2 { // a mistake in a hook that a person wrote, not an event
		return usageError("hook takes the name of an agent and the name of an event", "`git checkpoint agent list` shows the agents")
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
	if happened.Kind == "" && happened.Child == "" {
		return nil
	}
	// The event says where the agent works, which need not be the working directory of the hook.
	if happened.Directory != "" {
		if info, err := os.Stat(happened.Directory); err != nil || !info.IsDir() || !filepath.IsAbs(happened.Directory) {
			return nil
		}
		app.dir = happened.Directory
	}
	app.Terminal.Environ = withoutChoices(app.Terminal.Environ)
	// stdout belongs to the agent's protocol, and stderr may be shown to the user or to the model.
	app.quiet = true
	var said []byte
	_ = app.serve(ctx, func(s *checkpoint.Service) error { // the error is dropped: outside a repository a hook is silent
		// A cloned repository may bring hooks along. They do nothing until the user has agreed in
		// the local or user configuration.
		if on, err := s.Settings.Bool(connect.ConsentKey(def.Name), false); err != nil || !on {
			return nil //nolint:nilerr // without consent nothing is done, and nothing said
		}
		said = handleEvent(ctx, app, s, def, event, happened)
		return nil
	})
	_, _ = app.Terminal.Out.Write(said) // the agent may not read the answer
	return nil
}

// handleEvent handles an event in the repository and returns what to print for the agent. An error
// is logged, with secrets replaced.
func handleEvent(ctx context.Context, a *App, s *checkpoint.Service, def *agent.Definition, event string, happened agent.Happening) []byte {
	ctx, cancel := context.WithTimeout(ctx, deadline(s, def, event, happened.Kind))
	defer cancel()
	// If a privacy setting cannot be read, prompts and transcripts are not kept.
	prompts, err := s.Settings.Bool("checkpoint.agent.prompts", true)
	transcripts, _ := s.Settings.Bool(connect.TranscriptsKey, false) //nolint:errcheck // a value that cannot be read is no consent
	h := &hook.Handler{
		Agent: def, Dir: filepath.Join(s.Repo.GitDir, "checkpoint", "agents"), Now: s.Now, Prompts: prompts && err == nil, Keep: transcripts,
		Redact: func(text string) string { return clearance.Redacted(s, "agent's words", text) },
		Steps:  &hook.Repository{Service: s, Say: func(said *chat.Answer) (string, error) { return chatText(a.now(), said) }},
	}
	said, err := h.Handle(ctx, event, happened)
	if err != nil {
		hook.Log(filepath.Join(s.Repo.GitDir, "checkpoint", "agent.log"), hook.Entry{
			Time: s.Now(), Agent: def.Name, Event: event, Problem: clearance.Redacted(s, "problem", err.Error()),
		})
	}
	out, err := def.Write(event, said)
	if err != nil {
		return nil
	}
	return out
}

// deadline is how long the hook may take: checkpoint.agent.deadline (default 10s), at most 5s for a
// prompt, because the user waits for it, and less than the time after which the agent kills the
// hook.
func deadline(s *checkpoint.Service, def *agent.Definition, event string, kind agent.Kind) time.Duration {
	limit := 10 * time.Second
	if value, set := s.Settings.Get("checkpoint.agent.deadline"); set {
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			limit = d
		}
	}
	if kind == agent.KindPrompt {
		limit = min(limit, 5*time.Second)
	}
	for _, h := range def.Hooks.Events {
		if h.Event == event && h.Seconds > 0 {
			// The agent kills the hook after h.Seconds. Leave time to print the answer before that.
			limit = min(limit, time.Duration(h.Seconds)*time.Second-200*time.Millisecond)
		}
	}
	return limit
}

// chatText renders the answer to a chat command as a chat shows it.
func chatText(now time.Time, said *chat.Answer) (string, error) {
	var b bytes.Buffer
	err := answer.Text(&b, render.View{Layout: render.Aligned, Width: chatWidth, Now: now}, answer.Chatted{Chat: said})
	return said.InWords(strings.TrimRight(b.String(), "\n")), err
}

// withoutChoices drops the variables that select a repository or configure git. The event says
// where the agent works, and some agents run hooks with the environment of an unrelated terminal.
func withoutChoices(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		switch key {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT":
			return true
		}
		return strings.HasPrefix(key, "GIT_CONFIG_KEY_") || strings.HasPrefix(key, "GIT_CONFIG_VALUE_")
	})
}
