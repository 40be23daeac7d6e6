package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/connect"
)

// AgentCmd is "git checkpoint agent", the group of commands that connect coding agents. An agent is
// connected by hooks in its settings file, which call "git checkpoint hook" (agenthook.go), plus a
// setting in git's configuration, without which the hooks do nothing. Package connect does the
// work.
type AgentCmd struct {
	List   AgentListCmd   `cmd:"" default:"withargs" help:"List the known coding agents, and whether each is connected here."`
	Add    AgentAddCmd    `cmd:"" help:"Add hooks to an agent's settings, so that every prompt becomes a step."`
	Remove AgentRemoveCmd `cmd:"" help:"Remove the hooks from an agent's settings."`
}

// AgentListCmd is "agent list".
type AgentListCmd struct {
	jsonFlag
}

// Run prints the known agents and whether each is connected here.
func (c *AgentListCmd) Run(app *App, s *checkpoint.Service) error {
	found, err := connect.List(s)
	return app.giveUnless(err, answer.Agents{Found: found, Name: func(file string) string { return connect.Relative(s, file) }})
}

// scopeFlags choose which of an agent's settings files is changed.
type scopeFlags struct {
	User    bool `xor:"scope" help:"Change your own settings, for all repositories."`
	Project bool `xor:"scope" help:"Change the settings that are committed with the repository (default)."`
	Local   bool `xor:"scope" help:"Change the settings of this clone, which git ignores, if the agent has such."`
}

// scope returns the scope that the flags choose; the project's is the default.
func (f scopeFlags) scope() agent.Scope {
	switch {
	case f.User:
		return agent.ScopeUser
	case f.Local:
		return agent.ScopeLocal
	}
	return agent.ScopeProject
}

// AgentAddCmd is "agent add".
type AgentAddCmd struct {
	Names []string `arg:"" name:"agent" complete:"agent" help:"Agents, by the names that agent list shows."`
	MCP   bool     `name:"mcp" help:"Register the MCP server as well."`
	Skill bool     `help:"Add a skill and a /checkpoint command as well, if the agent supports them."`
	Keep  bool     `name:"transcripts" help:"Keep the agent's transcript of the conversation with each turn."`
	scopeFlags
	asked
	resultFlags
}

// Run adds the hooks to the settings of the agents.
func (c *AgentAddCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return connectAgents(ctx, app, s, c.asked, connect.Request{
		Adds: true, Names: c.Names, Scope: c.scope(), Wanted: agent.Wanted{Server: c.MCP, Pages: c.Skill}, Keep: c.Keep,
	})
}

// AgentRemoveCmd is "agent remove".
type AgentRemoveCmd struct {
	Names []string `arg:"" name:"agent" complete:"agent" help:"Agents, by the names that agent list shows."`
	scopeFlags
	asked
	resultFlags
}

// Run takes the hooks out of the settings of the agents.
func (c *AgentRemoveCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return connectAgents(ctx, app, s, c.asked, connect.Request{Names: c.Names, Scope: c.scope()})
}

// connectAgents does what add and remove have in common: it makes the plan, prints it, asks,
// applies it and prints what was done. A plan that changes nothing is not asked about.
func connectAgents(ctx context.Context, a *App, s *checkpoint.Service, how asked, req connect.Request) error {
	p, err := connect.Prepare(s, req)
	if err != nil {
		return err
	}
	shown := answer.Connected{Plan: p, Name: func(file string) string { return connect.Relative(s, file) }, DryRun: how.DryRun}
	if how.DryRun {
		return a.give(shown)
	}
	if p.Changes() {
		if err := a.confirm(ctx, shown, how.yesFlag); err != nil {
			return err
		}
		if err := p.Apply(ctx); err != nil {
			return err
		}
	}
	shown.Done = true
	return a.confirmed(shown)
}
