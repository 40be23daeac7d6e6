package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// crowd draws a shared world: agents and a person take their turns at random, so that what one does falls
// into the tools of another, and in the end steps are reverted.
type crowd struct {
	*gen
	files  leaves
	agents map[string]*scripted
	ops    []Op
}

// scripted is an agent while its work is drawn.
type scripted struct {
	turn, calls, left int
	busy              bool
	tool              *deed    // that is open
	plan              []change // what it is going to do
	worked            bool     // it has done that
	failed            bool     // it did not fit: an edit says so
}

// together returns the operations of a shared world.
func (g *gen) together() []Op {
	c := &crowd{gen: g, files: beginning(), agents: map[string]*scripted{"A": {}, "B": {}}}
	for range 25 + g.IntN(30) {
		switch who := string(people[g.IntN(len(people))]); {
		case who == "P":
			c.person()
		default:
			c.agent(who, c.agents[who])
		}
	}
	for _, who := range []string{"A", "B"} {
		if a := c.agents[who]; !g.chance(5) { // some are still at work
			for a.busy {
				a.left = 0
				c.agent(who, a)
			}
		}
	}
	if g.chance(3) {
		c.person()
	}
	for range 2 + g.IntN(3) {
		c.revert()
	}
	return c.ops
}

// do appends a deed with the shell line that does it, and returns whether a change of it fits.
func (c *crowd) do(d deed, line string) (fits bool) {
	for i := range d.changes {
		fits = d.changes[i].apply(c.files) || fits
	}
	c.ops = append(c.ops, Op{Verb: "share", Tree: "repo", Line: line, Deed: &d})
	return fits
}

// person lets the person do something.
func (c *crowd) person() {
	switch n := c.IntN(20); {
	case n == 0:
		c.do(deed{who: "P", does: "other"}, "git add -A; git commit -qm more")
	case n == 1:
		c.do(deed{who: "P", does: "other"}, "git checkpoint create -q -m saved")
	case n == 2:
		c.do(deed{who: "P", does: "other"}, "git add -A")
	default:
		d := deed{who: "P", does: "work", changes: []change{c.change("P")}}
		c.do(d, d.changes[0].shell())
	}
}

// agent lets an agent do the next thing of its turn.
func (c *crowd) agent(who string, a *scripted) {
	hook := func(d deed) { c.do(d, d.hook()) }
	d := deed{who: who, turn: a.turn, call: a.calls}
	switch {
	case !a.busy:
		a.busy, a.left, a.turn = true, 1+c.IntN(4), a.turn+1
		d.does, d.turn = "prompt", a.turn
		hook(d)
	case a.tool == nil && a.left == 0:
		a.busy = false
		d.does = "end"
		hook(d)
	case a.tool == nil:
		a.calls++
		a.left--
		d.call = a.calls
		a.tool, a.worked = c.tool(d, a), false
		hook(*a.tool)
	case a.worked || c.chance(15): // or the person denied it
		d, a.tool = *a.tool, nil
		if d.does, d.changes = "after", nil; !a.worked {
			return
		}
		if c.chance(6) && d.tool == "Bash" || a.failed && d.tool == "Edit" {
			d.does = "fail"
		}
		hook(d)
	default:
		a.worked, d = true, *a.tool
		d.does, d.changes = "work", a.plan
		var lines []string
		for i := range d.changes {
			lines = append(lines, d.changes[i].shell())
		}
		if d.tool == "Bash" && c.chance(12) {
			lines = append(lines, "git add -A", "git commit -qm agent")
		}
		a.failed = !c.do(d, strings.Join(lines, "\n"))
	}
}

// tool returns the beginning of an agent's use of a tool, and plans what it does.
func (c *crowd) tool(d deed, a *scripted) *deed {
	d.does = "before"
	a.plan = []change{c.change(d.who)}
	if d.tool, d.input = a.plan[0].input(); d.tool != "" && !c.chance(4) {
		return &d
	}
	for c.chance(2) {
		a.plan = append(a.plan, c.change(d.who))
	}
	d.tool, d.input = "Bash", `{"command":"x"}`
	return &d
}

// change draws a change that fits the files as they are.
func (c *crowd) change(who string) change {
	token := func() string { c.count++; return fmt.Sprintf("%s%04d", who, c.count) }
	paths := slices.Sorted(maps.Keys(c.files))
	if len(paths) == 0 {
		return change{does: "whole", path: c.path(), lines: []string{token(), token(), token()}}
	}
	p := c.pick(paths)
	line := func() string {
		if l := c.files[p].lines; len(l) > 0 {
			return c.pick(l)
		}
		return "none"
	}
	switch c.IntN(24) {
	case 0, 1:
		return change{does: "gone", path: p}
	case 2:
		return change{does: "move", path: p, to: c.path()}
	case 3:
		return change{does: "mode", path: p, to: c.pick([]string{"+x", "-x"})}
	case 4:
		return change{does: "link", path: c.path(), to: "else/where"}
	case 5, 6, 7:
		made := change{does: "whole", path: c.path()}
		for _, l := range c.files[made.path].lines { // much of it as it was
			if !c.chance(6) {
				made.lines = append(made.lines, l)
			}
			if c.chance(6) {
				made.lines = append(made.lines, token())
			}
		}
		made.lines = append(made.lines, token())
		return made
	case 8, 9, 10:
		return change{does: "behind", path: p, lines: []string{line(), token()}}
	case 11, 12:
		return change{does: "drop", path: p, lines: []string{line()}}
	case 13:
		return change{does: "add", path: p, lines: []string{token()}}
	}
	return change{does: "swap", path: p, lines: []string{line(), token()}}
}

// revert draws a revert of what an agent did.
func (c *crowd) revert() {
	who := c.pick([]string{"A", "B"})
	d := deed{who: who, does: "revert", turn: 1 + c.IntN(max(1, c.agents[who].turn)), form: "step"}
	d.to = d.turn
	session := `"$(session ` + who + `)"`
	step := func(turn int) string { return fmt.Sprintf(`"$(step %s %d)"`, who, turn) }
	line := "--session " + session + " "
	switch c.IntN(8) {
	case 0:
		d.form, d.to = "steps", max(d.turn, c.agents[who].turn)
		line += step(d.turn) + ".." + step(d.to)
	case 1:
		d.form = "since"
		line += "--since " + step(d.turn)
		d.turn, d.to = d.turn+1, c.agents[who].turn
	case 2:
		d.form = "by"
		line = "--by " + session
	case 3:
		d.form = "outside"
		line += "--by outside"
	default:
		line += step(d.turn)
	}
	switch c.IntN(6) {
	case 0:
		d.only = []string{c.path()}
		line += " -- " + words(d.only...)
	case 1:
		d.marks = true
		line += " --conflicts"
	}
	c.ops = append(c.ops, Op{Verb: "revert", Tree: "repo", Line: line, Deed: &d})
}
