// Package connect adds the hooks of coding agents to a repository or to a person's own settings, takes
// them out again, and tells how each agent stands. What it adds is data of package agent; it runs no
// agent, and it never writes what an agent trusts.
package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
)

// Request says which agents, and where.
type Request struct {
	Names  []string
	Scope  agent.Scope
	Wanted agent.Wanted
	Keep   bool // the transcripts of agents, from now on
}

// Plan is what adding or removing does. Nothing is written before Apply.
type Plan struct {
	Agents []Planned
	Keep   bool // whether it asks to keep transcripts
	adds   bool
	scope  agent.Scope
	s      *checkpoint.Service
}

// Planned is what happens for one agent.
type Planned struct {
	Agent   *agent.Definition
	Changes []agent.Change
	Consent bool // whether its hooks have consent after it
}

// PlanAdd plans to add hooks, and to give consent to them.
func PlanAdd(s *checkpoint.Service, req Request) (*Plan, error) {
	return plan(s, req, true, func(d *agent.Definition, place agent.Place, _ agent.Receipt) ([]agent.Change, error) {
		if d.Hooks.Shape == "none" {
			return nil, nil
		}
		return d.Add(place, req.Wanted)
	})
}

// PlanRemove plans to take hooks out, and the consent back.
func PlanRemove(s *checkpoint.Service, req Request) (*Plan, error) {
	return plan(s, req, false, func(d *agent.Definition, place agent.Place, receipt agent.Receipt) ([]agent.Change, error) {
		if d.Hooks.Shape == "none" {
			return nil, nil
		}
		return d.Remove(place, receipt)
	})
}

// PlanDeinit plans to take out what was added to the files of this worktree. Hooks that came along with
// the repository are others' and stay; so do those in a person's own settings, which serve other repositories.
func PlanDeinit(s *checkpoint.Service) (*Plan, error) {
	receipt, err := readReceipt(receiptFile(s, agent.ScopeProject))
	if err != nil {
		return nil, err
	}
	all := &Plan{s: s}
	for _, scope := range []agent.Scope{agent.ScopeProject, agent.ScopeLocal} {
		for _, name := range agent.Names() {
			d, err := agent.Find(name)
			if err != nil {
				return nil, err
			}
			file, err := placeOf(s, scope).File(d.Hooks.Files)
			if _, added := receipt[resolved(file)]; err != nil || !added {
				continue
			}
			p, err := PlanRemove(s, Request{Names: []string{name}, Scope: scope})
			if err != nil {
				return nil, err
			}
			all.Agents = append(all.Agents, p.Agents...)
		}
	}
	return all, nil
}

// resolved is the path by which a receipt knows a file.
func resolved(file string) string {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		return to
	}
	return file
}

func plan(s *checkpoint.Service, req Request, adds bool, change func(*agent.Definition, agent.Place, agent.Receipt) ([]agent.Change, error)) (*Plan, error) {
	p := &Plan{Keep: req.Keep, adds: adds, scope: req.Scope, s: s}
	receipt, err := readReceipt(receiptFile(s, req.Scope))
	if err != nil {
		return nil, err
	}
	for _, name := range req.Names {
		d, err := agent.Find(name)
		if err != nil {
			return nil, checkpoint.Usage("`git checkpoint agent list` shows them", "%v", err)
		}
		changes, err := change(d, placeOf(s, req.Scope), receipt)
		if err != nil {
			return nil, explain(d, err)
		}
		p.Agents = append(p.Agents, Planned{Agent: d, Changes: changes, Consent: adds})
	}
	return p, nil
}

// explain says what a person can do where a file cannot be edited.
func explain(d *agent.Definition, err error) error {
	var unreadable *agent.UnreadableError
	switch {
	case errors.As(err, &unreadable):
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Err: err,
			Hints: []string{"nothing was changed; put this into it yourself:\n" + unreadable.Snippet},
		}
	case errors.Is(err, agent.ErrScope):
		return checkpoint.Usage("leave the flag out, or see docs/agents.md", "%s has no such settings: %v", d.Title, err)
	}
	return checkpoint.Classify(err)
}

func placeOf(s *checkpoint.Service, scope agent.Scope) agent.Place {
	return agent.Place{Worktree: s.Repo.WorkTree, Home: home(s), Scope: scope}
}

func home(s *checkpoint.Service) string { return s.Getenv("HOME") }

// Changes reports whether anything is to be done.
func (p *Plan) Changes() bool {
	for _, a := range p.Agents {
		for _, c := range a.Changes {
			if c.Changes() {
				return true
			}
		}
		if on, _ := p.s.Settings.Bool(ConsentKey(a.Agent.Name), false); on != a.Consent { //nolint:errcheck // a bad value is replaced
			return true
		}
	}
	kept, _ := p.s.Settings.Bool(TranscriptsKey, false) //nolint:errcheck // a bad value is replaced
	return p.Keep && !kept
}

// TranscriptsKey is the configuration that keeps the transcripts of agents.
const TranscriptsKey = "checkpoint.agent.transcripts"

// ConsentKey is the configuration that lets the hooks of an agent do something.
func ConsentKey(name string) string { return "checkpoint.agent." + name + ".enabled" }

// Apply writes the files, the consent and the receipt.
func (p *Plan) Apply(ctx context.Context) error {
	file := receiptFile(p.s, p.scope)
	receipt, err := readReceipt(file)
	if err != nil {
		return err
	}
	for _, a := range p.Agents {
		for _, c := range a.Changes {
			if err := c.Apply(receipt); err != nil {
				return errors.Join(checkpoint.Classify(err), writeReceipt(file, receipt))
			}
		}
		if err := p.configure(ctx, ConsentKey(a.Agent.Name), p.adds); err != nil {
			return errors.Join(err, writeReceipt(file, receipt))
		}
	}
	if p.Keep {
		if err := p.configure(ctx, TranscriptsKey, true); err != nil {
			return errors.Join(err, writeReceipt(file, receipt))
		}
	}
	return writeReceipt(file, receipt)
}

// configure sets a key, or takes it out, in the configuration that no repository can bring along.
func (p *Plan) configure(ctx context.Context, key string, on bool) error {
	where := "--local"
	if p.scope == agent.ScopeUser {
		where = "--global"
	}
	args := []string{"config", where, key, "true"}
	if !on {
		args = []string{"config", where, "--unset-all", key}
	}
	_, err := p.s.Repo.Output(ctx, args...)
	if !on && git.ExitCode(err) == 5 { // it was not set
		err = nil
	}
	return checkpoint.Classify(err)
}

// receiptFile is where it is kept what was added: for all worktrees, or for the person.
func receiptFile(s *checkpoint.Service, scope agent.Scope) string {
	if scope != agent.ScopeUser {
		return filepath.Join(s.Repo.CommonDir, "checkpoint", "agents-added.json")
	}
	state := s.Getenv("XDG_STATE_HOME")
	if state == "" {
		state = filepath.Join(home(s), ".local", "state")
	}
	return filepath.Join(state, "git-checkpoint", "agents-added.json")
}

func readReceipt(file string) (agent.Receipt, error) {
	receipt := agent.Receipt{}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return receipt, nil
	}
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	if json.Unmarshal(data, &receipt) != nil || receipt == nil {
		return agent.Receipt{}, nil //nolint:nilerr // entries are then taken out one by one
	}
	return receipt, nil
}

func writeReceipt(file string, receipt agent.Receipt) error {
	if len(receipt) == 0 {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return checkpoint.Classify(err)
	}
	data, err := json.MarshalIndent(receipt, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write down what was added: %w", checkpoint.Classify(err))
	}
	return nil
}

// Relative names a file as a person sees it.
func Relative(s *checkpoint.Service, file string) string {
	if rel, err := filepath.Rel(s.Repo.WorkTree, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	if h := home(s); h != "" && strings.HasPrefix(file, h+string(filepath.Separator)) {
		return "~" + strings.TrimPrefix(file, h)
	}
	return file
}
