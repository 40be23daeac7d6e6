package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/connect"
)

// Agents is the answer of agent list.
type Agents struct {
	Found []connect.Standing
	Name  func(file string) string // shortens the path of a settings file for display
}

// text writes a table.
func (a Agents) text(p *page) {
	t := render.Table{Columns: []render.Column{{Title: "Agent"}, {Title: "Installed"}, {Title: "Hooks", Min: 12}, {Title: "Last event"}, {Title: "Notes", Min: 12}}}
	for _, st := range a.Found {
		installed, last := "no", ""
		if st.Installed {
			installed = "yes"
		}
		if st.LastEvent != nil {
			last = p.view.Time(st.LastEvent.Time)
		}
		files := gather.List(st.Hooks, func(h connect.Hooked) string { return a.Name(h.File) })
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.ID, st.Name), say(installed), say(strings.Join(files, ", ")),
			cell(render.Dim, last), cell(render.Warning, notes(st)),
		})
	}
	p.table(t.Columns, t.Rows)
}

// notes returns what the user should know about an agent's hooks: a problem with its remedy, or
// that the agent has not sent any event.
func notes(st connect.Standing) string {
	switch {
	case len(st.Warnings) > 0:
		return strings.Join(gather.List(st.Warnings, func(w connect.Warning) string { return w.Problem + " (" + w.Remedy + ")" }), "; ")
	case st.Enabled && len(st.Hooks) > 0 && st.LastEvent == nil:
		return "connected, no prompt seen yet"
	}
	return ""
}

// Connected is the plan of agent add or agent remove, or its result.
type Connected struct {
	Plan   *connect.Plan
	Name   func(file string) string // makes a file's path relative for display
	DryRun bool
	Done   bool                      // the plan was carried out
	Trials map[string]*connect.Trial // the results of trying the hooks that were added, by the names of agents
}

// connectedFile is what happens to one settings file, in the JSON form.
type connectedFile struct {
	File    string   `json:"file"`
	Entries []string `json:"entries"`
	Left    []string `json:"left"`
	Ignored bool     `json:"ignored,omitempty"`
	Deleted bool     `json:"deleted"`
	Changed bool     `json:"changed"`
}

// connectedAgent is what happens to the settings of one agent, in the JSON form.
type connectedAgent struct {
	Agent   string          `json:"agent"`
	Enabled bool            `json:"enabled"`
	Files   []connectedFile `json:"files"`
	Updated bool            `json:"updated"`
	DryRun  bool            `json:"dry_run"`
	Trial   *connect.Trial  `json:"trial"`
}

func (a Connected) shows() any {
	var all []connectedAgent
	for _, p := range a.Plan.Agents {
		var files []connectedFile
		for _, c := range p.Files {
			files = append(files, connectedFile{File: c.Path, Entries: c.Added, Left: c.Left, Ignored: c.Ignored, Deleted: c.After == nil && c.Before != nil, Changed: c.Changes()})
		}
		all = append(all, connectedAgent{p.Agent.Name, a.Plan.Adds, files, p.Updates, a.DryRun, a.Trials[p.Agent.Name]})
	}
	return all
}

// Offered are the agents that agent add can be given, as lines to choose from.
type Offered struct {
	Found []connect.Offer
	Name  func(file string) string // shortens the path of a settings file
}

// Lines returns what a person types for each agent, and its line.
func (a Offered) Lines() (keys, lines []string) {
	for i, o := range a.Found {
		adds := render.Count(len(o.Agent.Hooks.Events), "hook", "hooks") + " in " + a.Name(o.File)
		if o.Connected {
			adds = "has its hooks in " + a.Name(o.File)
		}
		keys = append(keys, strconv.Itoa(i+1))
		lines = append(lines, fmt.Sprintf("%3d  %-9s %-19s %s", i+1, o.Agent.Name, o.Agent.Title, adds))
	}
	return keys, lines
}

// text writes the changes to each settings file, or after they are done what to know about them.
func (a Connected) text(p *page) {
	for _, planned := range a.Plan.Agents {
		if a.Done {
			a.done(p, planned)
			continue
		}
		for _, c := range planned.Files {
			sign, does := "-", "entries to remove"
			switch {
			case a.Plan.Adds:
				sign, does = "+", render.Count(len(c.Added), "entry", "entries")+" to add"
			case c.After == nil:
				does = "the file to remove"
			}
			if len(c.Left) > 0 {
				p.line(dim(planned.Agent.Title + "  " + a.Name(c.Path) + ": left: " + strings.Join(c.Left, "; ")))
			}
			if !c.Changes() {
				continue
			}
			p.line(plain(planned.Agent.Title + "  " + a.Name(c.Path) + ": " + does + ", nothing else changes"))
			added := strings.Join(c.Added, ", ")
			if p.view.Layout == render.Aligned && !p.view.Verbose { // without the tools that a hook is for
				added = regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(added, "")
			}
			p.table([]render.Column{{Wrap: true}}, [][]render.Cell{{say("  " + sign + " " + added)}})
			if c.Ignored && a.Plan.Adds {
				p.line(plain("  " + planned.Agent.Title + " ignores all of this file, because it has comments or trailing commas; it runs no hook until you take them out"))
			}
		}
	}
	if a.Plan.Keep && !a.Done {
		p.line(plain("Each turn keeps the agent's transcript of the conversation, without the secrets that are found; push and export send it along"))
	}
}

// done confirms the changes for one agent. Entries that a user has edited are left alone, and
// named.
func (a Connected) done(p *page, planned connect.Planned) {
	for _, c := range planned.Files {
		if len(c.Left) > 0 {
			p.line(dim(a.Name(c.Path) + ": left: " + strings.Join(c.Left, "; ")))
		}
	}
	success := render.Span{Role: render.Success, Text: "✓"}
	if !a.Plan.Adds {
		left := func(c agent.Change) bool { return len(c.Left) > 0 }
		if file := planned.Agent.Hooks.Files[a.Plan.Scope]; !planned.Changes() && slices.ContainsFunc(planned.Files, left) {
			p.line(plain("The hooks of " + planned.Agent.Title + " that somebody changed stay in " + file + "; take them out by hand"))
		} else if !planned.Changes() && file != "" {
			p.line(plain(planned.Agent.Title + " has no hooks to remove in " + file))
		} else {
			p.line(success, plain(" The hooks of "+planned.Agent.Title+" are removed; checkpoints stay"))
		}
		for _, other := range planned.Shares {
			p.line(plain("What is registered of the MCP server stays: " + other.Title + " reads the same file"))
		}
		for _, h := range planned.Elsewhere {
			p.line(plain("Its hooks in " + a.Name(h.File) + " stay: " + connect.Removal(planned.Agent.Name, h.Scope)))
		}
		return
	}
	ignored := func(c agent.Change) bool { return c.Ignored }
	if i := slices.IndexFunc(planned.Files, ignored); i >= 0 {
		p.line(plain(planned.Agent.Title + " makes no checkpoints here until you take the comments and trailing commas out of " + a.Name(planned.Files[i].Path) + ": it ignores all of a file with them"))
	} else if left := slices.ContainsFunc(planned.Files, func(c agent.Change) bool { return len(c.Left) > 0 }); left && planned.Agent.Hooks.Plugin != "" {
		p.line(plain(planned.Agent.Title + " runs the file that somebody changed; delete it and run the command again to have git-checkpoint's own"))
	} else if planned.Updates {
		p.line(success, plain(" The hooks of "+planned.Agent.Title+", which an older version added, are updated; they work from its next session on"))
	} else {
		p.line(success, plain(" "+planned.Agent.Title+" makes checkpoints here from its next session on"))
	}
	for _, after := range planned.Agent.After {
		p.line(dim("  " + after))
	}
	if t := a.Trials[planned.Agent.Name]; t != nil && t.Step != "" {
		p.line(plain("  tried: a prompt in a scratch repository became the step " + p.short(t.Step)))
	}
	p.line(plain("Take out: " + connect.Removal(planned.Agent.Name, a.Plan.Scope)))
}
