package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/attempt"
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
	found, err := connect.List(s.Rules)
	return app.giveUnless(err, answer.Agents{Found: found, Name: func(file string) string { return connect.Relative(s.Rules, file) }})
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
	Names []string `arg:"" optional:"" name:"agent" complete:"agent" help:"Agents, by the names that agent list shows; without any, those on this machine are offered."`
	MCP   bool     `name:"mcp" help:"Register the MCP server as well."`
	Skill bool     `help:"Add a skill and a /checkpoint command as well, if the agent supports them."`
	Trees bool     `name:"worktrees" help:"Add hooks that make and remove the agent's worktrees as well: each begins with a checkpoint of what is here."`
	Keep  bool     `name:"transcripts" help:"Keep the agent's transcript of the conversation with each turn."`
	scopeFlags
	confirmFlags
	resultFlags
}

// Run adds the hooks to the settings of the agents.
func (c *AgentAddCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	names := c.Names
	if len(names) == 0 {
		chosen, err := c.offer(ctx, app, s.Rules)
		if err != nil {
			return err
		}
		names = []string{chosen}
	}
	err := connectAgents(ctx, app, s, c.confirmFlags, connect.Request{
		Adds: true, Names: names, Scope: c.scope(), Wanted: agent.Wanted{Server: c.MCP, Pages: c.Skill, Worktrees: c.Trees}, Keep: c.Keep,
	})
	if err != nil || c.DryRun || c.Yes || app.json || !app.Terminal.Interactive() {
		return err
	}
	if err := c.offerIgnored(ctx, app, s.Repo); err != nil {
		return err
	}
	return c.offerIncluded(ctx, app, s.Repo)
}

// offerIncluded lets the user agree to .worktreeinclude, by which the worktrees of agents get ignored files.
func (c *AgentAddCmd) offerIncluded(ctx context.Context, app *App, repo *git.Repo) error {
	if !c.Trees {
		return nil
	}
	blob, err := app.included(ctx, repo, "Give each worktree of an agent a copy")
	if err != nil || blob == "" {
		return err
	}
	_, err = repo.Output(ctx, "config", "--local", attempt.IncludeKey, string(blob))
	return err
}

// offerIgnored lets the user have ignored files such as .env in checkpoints, if there are any.
func (c *AgentAddCmd) offerIgnored(ctx context.Context, app *App, repo *git.Repo) error {
	found, err := connect.Losable(ctx, repo)
	if err != nil || len(found) == 0 {
		return err
	}
	question := fmt.Sprintf("git ignores %s. Keep it in checkpoints? It goes to no remote without your consent.", render.Escape(strings.Join(found, ", ")))
	yes, err := app.Terminal.Confirm(ctx, question)
	if err != nil || !yes {
		return err
	}
	return connect.KeepLosable(ctx, repo)
}

// offer lets the user choose from the agents on this machine, and returns the name of one. Where nobody
// can be asked, the error names them.
func (c *AgentAddCmd) offer(ctx context.Context, app *App, s *checkpoint.Rules) (string, error) {
	found := connect.Offers(s, c.scope())
	if len(found) == 0 {
		return "", usage.Error("no agent was named, and none of those that this program knows is in PATH", "`git checkpoint agent list` shows them")
	}
	offered := answer.Offered{Found: found, Name: func(file string) string { return connect.Relative(s, file) }}
	keys, lines := offered.Lines()
	chosen, err := app.Terminal.Choose(ctx, "Which agent?", keys, lines)
	if errors.Is(err, term.ErrNotInteractive) {
		names := gather.List(found, func(o connect.Offer) string { return o.Agent.Name })
		return "", usage.Error("no agent was named; on this machine there are: "+strings.Join(names, ", "), "for example `git checkpoint agent add "+names[0]+"`")
	}
	if err != nil {
		return "", unchosen(err)
	}
	return found[chosen].Agent.Name, nil
}

// AgentRemoveCmd is "agent remove".
type AgentRemoveCmd struct {
	Names []string `arg:"" name:"agent" complete:"agent" help:"Agents, by the names that agent list shows."`
	scopeFlags
	confirmFlags
	resultFlags
}

// Run takes the hooks out of the settings of the agents.
func (c *AgentRemoveCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return connectAgents(ctx, app, s, c.confirmFlags, connect.Request{Names: c.Names, Scope: c.scope()})
}

// connectAgents does what add and remove have in common: it makes the plan, prints it, asks,
// applies it and prints what was done. A plan that changes nothing is not asked about.
func connectAgents(ctx context.Context, a *App, s *checkpoint.Service, how confirmFlags, req connect.Request) error {
	p, err := connect.Prepare(s, req)
	if err != nil {
		return err
	}
	shown := answer.Connected{Plan: p, Name: func(file string) string { return connect.Relative(s.Rules, file) }, DryRun: how.DryRun}
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
	if shown.Done = true; !req.Adds {
		return a.confirmed(shown)
	}
	connect.LinkProgram(s.Rules)
	shown.Trials = map[string]*connect.Trial{}
	for _, planned := range p.Agents {
		t := p.Try(ctx, planned.Agent)
		if shown.Trials[planned.Agent.Name] = t; t != nil && t.Problem != "" {
			a.warn("the hooks of " + planned.Agent.Title + " were tried in a scratch repository and made no step: " + t.Problem)
		}
	}
	return a.confirmed(shown)
}
