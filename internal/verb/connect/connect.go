// Package connect adds the hooks of coding agents to a repository or to a user's own
// settings, removes them again, and reports the state of each agent. The files to edit come
// from package agent.
//
// Prepare and PlanDeinit return a Plan that can be shown before Plan.Apply
// writes it. The receipt, a JSON file, remembers what was added. Hooks do nothing without
// consent, a key in git's configuration that no repository can bring along. List and
// Troubled (list.go) report how each agent stands. The package starts no agent, and never
// writes to the file in which an agent keeps its trust.
package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/sys/wholefile"
)

// Request says which agents to add or remove, and where.
type Request struct {
	Names  []string
	Scope  agent.Scope
	Wanted agent.Wanted
	Keep   bool // the agents' transcripts from now on
	Adds   bool // tells adding, with consent to the hooks, from removing
}

// Plan is what adding or removing would do. Nothing is written before Apply.
type Plan struct {
	Request
	Agents []Planned
	s      *checkpoint.Service
}

// Planned is the part of a plan for one agent.
type Planned struct {
	Agent     *agent.Definition
	Files     []agent.Change      // what happens to each settings file
	Elsewhere []Hooked            // Files of other scopes with hooks, which a removal leaves
	Updates   bool                // says that an older version added the hooks, and something is added to them
	Shares    []*agent.Definition // has the agents that go on to use its entry of the MCP server, which therefore stays
}

// Changes reports whether a settings file changes.
func (p Planned) Changes() bool { return slices.ContainsFunc(p.Files, agent.Change.Changes) }

// Removal returns the command that removes an agent's hooks from the files of a scope.
func Removal(name string, scope agent.Scope) string { return scoped("remove "+name, scope) }

func scoped(does string, scope agent.Scope) string {
	command := "git checkpoint agent " + does
	if scope != agent.ScopeProject {
		command += " --" + string(scope)
	}
	return command
}

// PlanDeinit plans to remove what was added to files of this worktree. Hooks that came with
// the repository belong to others and stay. So do hooks in the user's own settings, because
// these serve other repositories, too.
func PlanDeinit(s *checkpoint.Service) (*Plan, error) {
	receipt, err := readReceipt(receiptFile(s.Rules, agent.ScopeProject))
	if err != nil {
		return nil, err
	}
	all := &Plan{s: s}
	for _, scope := range []agent.Scope{agent.ScopeProject, agent.ScopeLocal} {
		var names []string
		for _, d := range agent.All() {
			file, err := placeOf(s.Rules, scope).File(d.Hooks.Files)
			if _, added := receipt[resolved(file)]; err == nil && added {
				names = append(names, d.Name)
			}
		}
		p, err := Prepare(s, Request{Names: names, Scope: scope})
		if err != nil {
			return nil, err
		}
		all.Agents = append(all.Agents, p.Agents...)
	}
	for i := range all.Agents {
		all.Agents[i].Elsewhere = nil // all scopes of this worktree go
	}
	return all, nil
}

// Left returns the hooks that a deinit of this worktree leaves, with the commands that remove them: those
// in the user's own settings, and those that came with the repository.
func Left(s *checkpoint.Rules) (left []string, err error) {
	receipt, err := readReceipt(receiptFile(s, agent.ScopeProject))
	if err != nil {
		return nil, err
	}
	for _, d := range agent.All() {
		for _, h := range hooked(s, d) {
			if _, added := receipt[resolved(h.File)]; !added {
				left = append(left, "hooks of "+d.Title+" in "+Relative(s, h.File)+": "+Removal(d.Name, h.Scope))
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(receipt)) {
		if rel, err := filepath.Rel(s.Repo.WorkTree, file); err != nil || strings.HasPrefix(rel, "..") {
			left = append(left, "what agent add wrote to "+file+" in another worktree: git checkpoint deinit there")
		}
	}
	return left, nil
}

// resolved returns the path under which a receipt lists a file.
func resolved(file string) string {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		return to
	}
	return file
}

// Prepare plans to add hooks and to give consent to them, or to remove them and to withdraw it.
func Prepare(s *checkpoint.Service, req Request) (*Plan, error) {
	p := &Plan{Request: req, s: s}
	place := placeOf(s.Rules, req.Scope)
	place.Planned = map[string][]byte{}
	receipt, err := readReceipt(receiptFile(s.Rules, req.Scope))
	if err != nil {
		return nil, err
	}
	for _, name := range req.Names {
		d, err := agent.Find(name)
		if err == nil && slices.ContainsFunc(p.Agents, func(a Planned) bool { return a.Agent.Name == d.Name }) {
			continue // it was named twice
		}
		if err != nil {
			return nil, checkpoint.Usage("`git checkpoint agent list` shows them", "%v", err)
		}
		var changes []agent.Change
		var shares []*agent.Definition
		switch {
		case req.Adds && req.Wanted.Worktrees && len(d.Hooks.Worktrees) == 0:
			return nil, checkpoint.Usage("`git checkpoint fork` makes a worktree for any agent", "%s has no events for its worktrees", d.Title)
		case d.Hooks.Shape == "none":
		case req.Adds:
			changes, err = d.Add(place, req.Wanted)
		default:
			shares = sharing(s.Rules, d, place, req.Names)
			changes, err = d.Remove(place, receipt, len(shares) > 0)
		}
		if err != nil {
			return nil, explain(d, err)
		}
		for _, c := range changes {
			place.Planned[c.Path] = c.After
		}
		file, _ := place.File(d.Hooks.Files) //nolint:errcheck // such an agent has no hooks there
		updates := req.Adds && len(d.Calls(file).Ours) > 0 && slices.ContainsFunc(changes, func(c agent.Change) bool { return c.Path == resolved(file) && c.Changes() })
		elsewhere := slices.DeleteFunc(hooked(s.Rules, d), func(h Hooked) bool { return h.Scope == req.Scope })
		p.Agents = append(p.Agents, Planned{Agent: d, Files: changes, Elsewhere: elsewhere, Updates: updates, Shares: shares})
	}
	return p, nil
}

// sharing returns the agents that use the same entry of the MCP server as one that is removed, and stay.
func sharing(s *checkpoint.Rules, d *agent.Definition, place agent.Place, removed []string) (stay []*agent.Definition) {
	file, err := place.File(d.Server.Files)
	if err != nil || !d.Registered(file) {
		return nil
	}
	for _, other := range agent.All() {
		theirs, err := place.File(other.Server.Files)
		goes := func(name string) bool {
			named, err := agent.Find(name)
			return err == nil && named.Name == other.Name
		}
		if err == nil && other.Name != d.Name && resolved(theirs) == resolved(file) && other.Registered(file) && Connected(s, other.Name) && !slices.ContainsFunc(removed, goes) {
			stay = append(stay, other)
		}
	}
	return stay
}

// explain adds what a person can do about a file that cannot be edited.
func explain(d *agent.Definition, err error) error {
	var unreadable *agent.UnreadableError
	var link *agent.LinkError
	switch {
	case errors.As(err, &unreadable):
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Err: err,
			Hints: []string{"nothing was changed; add this to the file yourself:\n" + unreadable.Snippet},
		}
	case errors.As(err, &link):
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Err: err,
			Hints: []string{"put a file or directory of its own in its place, or use your own settings: `git checkpoint agent add " + d.Name + " --user`"},
		}
	case errors.Is(err, agent.ErrScope):
		return checkpoint.Usage("leave out the flag, or see docs/agents.md", "%s: %v", d.Title, err)
	}
	return err
}

func placeOf(s *checkpoint.Rules, scope agent.Scope) agent.Place {
	return agent.Place{Worktree: s.Repo.WorkTree, Program: command.Directory(s.Repo.WorkTree), Home: home(s.Settings), Scope: scope}
}

func home(settings *checkpoint.Settings) string { return settings.Getenv("HOME") }

// Changes reports whether applying the plan would do anything.
func (p *Plan) Changes() bool {
	for _, a := range p.Agents {
		if a.Changes() || Consented(p.s.Settings, a.Agent.Name) != p.Adds {
			return true
		}
	}
	kept, _ := p.s.Settings.Bool(TranscriptsKey, false) //nolint:errcheck // a bad value is replaced
	return p.Keep && !kept
}

// TranscriptsKey is the configuration key that says whether transcripts are kept.
const TranscriptsKey = "checkpoint.agent.transcripts"

// ConsentKey returns the configuration key without which the hooks of an agent do nothing.
func ConsentKey(name string) string { return "checkpoint.agent." + name + ".enabled" }

// Consented reports whether somebody agreed to the hooks of an agent. A bad value is none; List
// reports it.
func Consented(settings *checkpoint.Settings, name string) bool {
	on, err := settings.Bool(ConsentKey(name), false)
	return err == nil && on
}

// Apply writes the files, the consent and the receipt. The receipt is written even after an
// error, as it has to know about the files that were changed before.
func (p *Plan) Apply(ctx context.Context) error {
	file := receiptFile(p.s.Rules, p.Scope)
	receipt, err := readReceipt(file)
	if err != nil {
		return err
	}
	return errors.Join(p.apply(ctx, receipt), writeReceipt(file, receipt))
}

// apply is Apply without the receipt's file.
func (p *Plan) apply(ctx context.Context, receipt agent.Receipt) error {
	for _, a := range p.Agents {
		for _, c := range a.Files {
			if err := c.Apply(receipt); err != nil {
				return err
			}
		}
		if err := p.configure(ctx, ConsentKey(a.Agent.Name), p.Adds); err != nil {
			return err
		}
	}
	if !p.Keep {
		return nil
	}
	return p.configure(ctx, TranscriptsKey, true)
}

// LinkProgram makes the link through which hooks find this program before they look in PATH. Where it
// cannot be made, they only have PATH.
func LinkProgram(s *checkpoint.Rules) {
	dir, link := command.Directory(s.Repo.WorkTree), filepath.Join(UserState(s.Settings.Getenv), "bin")
	if to, err := os.Readlink(link); err == nil && to == dir || dir == "" || !filepath.IsAbs(link) {
		return
	}
	if os.MkdirAll(filepath.Dir(link), 0o700) == nil {
		os.Remove(link)       //nolint:errcheck // there is none, or the next line fails
		os.Symlink(dir, link) //nolint:errcheck // see above
	}
}

// configure sets or unsets a key in the repository's or the user's configuration, which
// does not come along with a clone.
func (p *Plan) configure(ctx context.Context, key string, on bool) error {
	where := "--local"
	if p.Scope == agent.ScopeUser {
		where = "--global"
	}
	args := []string{"config", where, key, "true"}
	if !on {
		args = []string{"config", where, "--unset-all", key}
	}
	_, err := p.s.Repo.Output(ctx, args...)
	// Git's exit code for a key that is not set.
	if !on && git.ExitCode(err) == 5 {
		err = nil
	}
	return err
}

// receiptFile returns the path of the receipt: one for all worktrees of a repository, or
// the user's.
func receiptFile(s *checkpoint.Rules, scope agent.Scope) string {
	if scope != agent.ScopeUser {
		return filepath.Join(s.Repo.CommonDir, "checkpoint", checkpoint.ReceiptFile)
	}
	return filepath.Join(UserState(s.Settings.Getenv), checkpoint.ReceiptFile)
}

// UserState returns the directory in which this program keeps what belongs to the user and to no
// repository.
func UserState(getenv func(string) string) string {
	return filepath.Join(cmp.Or(getenv("XDG_STATE_HOME"), filepath.Join(getenv("HOME"), ".local", "state")), "git-checkpoint")
}

// readReceipt reads the receipt. A damaged one counts as empty, and entries are then
// removed by value.
func readReceipt(file string) (agent.Receipt, error) {
	receipt := agent.Receipt{}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return receipt, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &receipt) != nil || receipt == nil {
		return agent.Receipt{}, nil //nolint:nilerr // entries are then taken out one by one
	}
	return receipt, nil
}

// writeReceipt writes the receipt, or deletes the file if it is empty.
func writeReceipt(file string, receipt agent.Receipt) error {
	if len(receipt) == 0 {
		return wholefile.Remove(file)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), wholefile.Private(file, receipt)); err != nil {
		return fmt.Errorf("save what was added: %w", err)
	}
	return nil
}

// Relative shortens a path for messages: relative to the worktree or to the home directory.
func Relative(s *checkpoint.Rules, file string) string {
	if rel, err := filepath.Rel(s.Repo.WorkTree, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	if h := home(s.Settings); h != "" && strings.HasPrefix(file, h+string(filepath.Separator)) {
		return "~" + strings.TrimPrefix(file, h)
	}
	return file
}
