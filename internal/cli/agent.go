package cli

import (
	"context"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/connect"
)

// AgentCmd is agent and its commands.
type AgentCmd struct {
	List   AgentListCmd   `cmd:"" default:"withargs" help:"List the coding agents that are known, and how each stands here."`
	Add    AgentAddCmd    `cmd:"" help:"Make every prompt to an agent a step."`
	Remove AgentRemoveCmd `cmd:"" help:"Take the hooks of an agent out again."`
}

// Help is the detail of agent.
func (*AgentCmd) Help() string {
	return `
After ` + "`git checkpoint agent add claude`" + ` every prompt that changes files becomes a step, with the prompt as its message. See docs/agents.md.`
}

// AgentListCmd is agent list.
type AgentListCmd struct {
	jsonFlag
}

// Run lists the agents.
func (c *AgentListCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := connect.List(s)
		if err != nil {
			return err
		}
		return app.give(answer.Agents{Found: found, Name: func(file string) string { return connect.Relative(s, file) }})
	})
}

// scopeFlags say whose settings are meant.
type scopeFlags struct {
	User    bool `xor:"scope" help:"Your own settings, for all repositories."`
	Project bool `xor:"scope" help:"Settings that are committed with the repository (default)."`
	Local   bool `xor:"scope" help:"Settings of this clone that git ignores, for agents that have such."`
}

func (f scopeFlags) scope() agent.Scope {
	switch {
	case f.User:
		return agent.ScopeUser
	case f.Local:
		return agent.ScopeLocal
	}
	return agent.ScopeProject
}

// AgentAddCmd is agent add.
type AgentAddCmd struct {
	Names []string `arg:"" name:"agent" complete:"agent" help:"Agents, as the list names them."`
	MCP   bool     `name:"mcp" help:"Register the MCP server too."`
	Skill bool     `help:"Add a skill and a /checkpoint command too, for agents that have such."`
	Keep  bool     `name:"transcripts" help:"Keep what the agents write of their conversations, with each turn."`
	scopeFlags
	dryRunFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help is the detail of agent add.
func (*AgentAddCmd) Help() string {
	return `
Shows what it adds to the agent's settings and asks. Every byte that is there stays. The hooks do something only where ` + "`checkpoint.agent.<name>.enabled`" + ` is true in local or user configuration; this command sets it.`
}

// Run adds hooks.
func (c *AgentAddCmd) Run(ctx context.Context, app *App) error {
	return connectAgents(ctx, app, asked{dryRunFlag: c.dryRunFlag, yesFlag: c.yesFlag}, connect.PlanAdd, connect.Request{
		Names: c.Names, Scope: c.scope(), Wanted: agent.Wanted{Server: c.MCP, Pages: c.Skill}, Keep: c.Keep,
	})
}

// AgentRemoveCmd is agent remove.
type AgentRemoveCmd struct {
	Names []string `arg:"" name:"agent" complete:"agent" help:"Agents, as the list names them."`
	scopeFlags
	dryRunFlag
	yesFlag
	jsonFlag
	quietFlag
}

// Help is the detail of agent remove.
func (*AgentRemoveCmd) Help() string {
	return `
Takes out exactly the entries that ` + "`git checkpoint agent add`" + ` put in; an entry that somebody changed is named and stays. Checkpoints stay.`
}

// Run takes hooks out.
func (c *AgentRemoveCmd) Run(ctx context.Context, app *App) error {
	return connectAgents(ctx, app, asked{dryRunFlag: c.dryRunFlag, yesFlag: c.yesFlag}, connect.PlanRemove, connect.Request{Names: c.Names, Scope: c.scope()})
}

// connectAgents shows a plan, asks, and carries it out.
func connectAgents(ctx context.Context, a *App, how asked, plan func(*checkpoint.Service, connect.Request) (*connect.Plan, error), req connect.Request) error {
	return a.serve(ctx, func(s *checkpoint.Service) error {
		p, err := plan(s, req)
		if err != nil {
			return err
		}
		shown := answer.Connected{Plan: p, Name: func(file string) string { return connect.Relative(s, file) }, DryRun: how.DryRun}
		if how.DryRun {
			return a.give(shown)
		}
		if !p.Changes() {
			shown.Done = true
			return a.confirmed(shown)
		}
		if err := a.confirm(ctx, shown, how.yesFlag); err != nil {
			return err
		}
		if err := p.Apply(ctx); err != nil {
			return err
		}
		shown.Done = true
		return a.confirmed(shown)
	})
}
