package torture

// How much of what the tools of agents edited has the right name, in a world where two agents and a person work at the same
// time. With TORTURE_RECALL set, each shared world is asked once, before anything is reverted, and the report counts the answers.

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// measuring is whether the answers are counted.
var measuring = os.Getenv("TORTURE_RECALL") != ""

// note remembers who made the lines that a change added, by path and line.
func (g *gathering) note(was leaves, d *deed, ch *change) {
	if g.makers == nil {
		g.makers = map[string]map[string]*deed{}
	}
	next := map[string]map[string]*deed{}
	for _, p := range ch.paths() {
		made := map[string]*deed{}
		for _, l := range g.now[p].lines {
			switch {
			case ch.does == "move" && p == ch.to && g.makers[ch.path][l] != nil:
				made[l] = g.makers[ch.path][l]
			case slices.Contains(was[p].lines, l):
				made[l] = g.makers[p][l]
			default:
				made[l] = d
			}
		}
		next[p] = made
	}
	maps.Copy(g.makers, next)
}

// recall counts the answers of blame, why and revert. A name of somebody else is a broken promise.
func (g *gathering) recall(c *run) error {
	sessions := map[string]string{}
	for _, who := range []string{"A", "B"} {
		r, err := c.host.start("repo", nil, "sh", "-c", prelude+"session "+who)
		if err != nil {
			return err
		}
		sessions[strings.TrimSpace(r.out)] = who
	}
	for p, l := range g.now {
		if l.target != "" || len(l.lines) == 0 {
			continue
		}
		for verb, args := range map[string][]string{"blame": {"--json", "--", "./" + p}, "why": {"--json", fmt.Sprintf("./%s:1,%d", p, len(l.lines))}} {
			r, err := c.program(Op{Verb: verb, Tree: "repo"}, args...)
			if err != nil {
				return err
			}
			if r.code != 0 {
				c.tally["recall "+verb+" refused"]++
				continue
			}
			if err := g.answered(c, verb, p, r.out, sessions); err != nil {
				return err
			}
		}
	}
	return g.takes(c)
}

// answered counts the answers for the lines of a file.
func (g *gathering) answered(c *run, verb, path, out string, sessions map[string]string) error {
	for said := json.NewDecoder(strings.NewReader(out)); said.More(); {
		var l struct{ Text, Content, By, Session, Because string }
		if err := said.Decode(&l); err != nil {
			return broken("%s of %s: %v", verb, path, err)
		}
		text := l.Text + l.Content
		d, by := g.makers[path][text], ""
		switch l.By { // "during" names the agent whose command ran, not who made it
		case "agent":
			by = sessions[l.Session]
		case "outside":
			by = "P"
		}
		tool := d != nil && d.who != "P" && d.tool != "Bash"
		switch {
		case d == nil && verb == "blame": // it is asked of the newest checkpoint, which may have lines that are gone
		case by != "" && (d == nil || by != d.who):
			return broken("%s of %s: %q is %s's, and the answer is %+v", verb, path, text, whose(d), l)
		case tool && by != "":
			c.tally["recall "+verb+" right"]++
		case tool:
			c.tally["recall "+verb+" unknown "+l.Because]++
		}
	}
	return nil
}

func whose(d *deed) string {
	if d == nil {
		return "nobody"
	}
	return fmt.Sprintf("%s (%s)", d.who, d.tool)
}

// takes counts the edits of tools of which lines stand that a revert of their step takes back.
func (g *gathering) takes(c *run) error {
	edited := map[string][]string{} // paths by agent and turn
	for p, lines := range g.makers {
		for _, d := range lines {
			if d == nil || d.who == "P" || d.tool == "Bash" {
				continue
			}
			if step := fmt.Sprintf("%s %d", d.who, d.turn); !slices.Contains(edited[step], p) {
				edited[step] = append(edited[step], p)
			}
		}
	}
	for step, paths := range edited {
		who, _, _ := strings.Cut(step, " ")
		args, err := c.spelled(Op{Tree: "repo", Line: `--session "$(session ` + who + `)" "$(step ` + step + `)"`})
		if err != nil {
			return err
		}
		said, why := &reply{}, " no step"
		if args != nil {
			r, err := c.program(Op{Verb: "revert", Tree: "repo"}, append([]string{"-n", "--json"}, args...)...)
			if err != nil {
				return err
			}
			if why = fmt.Sprint(" exit ", r.code); json.Unmarshal([]byte(r.out), said) != nil {
				said = &reply{}
			}
		}
		for _, p := range paths {
			word := "recall revert unknown" + why
			for _, f := range said.Files {
				if f.Path == p {
					word = "recall revert right"
				}
			}
			for _, l := range said.Left {
				if l.Path == p {
					word = "recall revert unknown left by " + l.By
				}
			}
			c.tally[word]++
		}
	}
	return nil
}
