package torture

// The world that is shared: two agents, known by their hooks, and a person work in one worktree at the
// same time, and then steps of an agent are reverted. Here is what they do, as shell lines and as a model
// of the files; shareddraw.go draws it, sharedcheck.go executes it and says what a revert has to leave.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sharing is the kind of shared worlds.
func sharing() kind {
	return kind{name: "shared", paths: []string{"a", "b", "c", "dir/d", "e f", "new"}, together: true, setup: func(*gen) []string {
		lines := []string{"git init -q repo", "cd repo"}
		first := beginning()
		for _, p := range slices.Sorted(maps.Keys(first)) {
			lines = append(lines, (&change{does: "whole", path: p, lines: first[p].lines}).shell())
		}
		return append(lines, "git checkpoint agent add claude -y", "git add -A", "git commit -qm one")
	}}
}

// people work in a shared world. The first two are agents.
const people = "ABP"

// leaf is a file of the model: a regular one with its lines, or a link.
type leaf struct {
	lines  []string
	target string // of a link; empty: it is a regular file
	exec   bool
}

func (l leaf) same(m leaf) bool {
	return l.target == m.target && l.exec == m.exec && slices.Equal(l.lines, m.lines)
}

// leaves are the files of a worktree by path.
type leaves map[string]leaf

// beginning is what a shared world begins with: files of lines that are in no other file.
func beginning() leaves {
	files := leaves{}
	for i, p := range []string{"a", "b", "c", "dir/d", "e f"} {
		var l leaf
		for n := range 14 {
			l.lines = append(l.lines, fmt.Sprintf("L%d%03d", i, n))
		}
		files[p] = l
	}
	return files
}

// change is one change of the files. What does not fit any more changes nothing.
type change struct {
	does  string // whole, swap, behind, drop, add, gone, move, mode or link
	path  string
	to    string   // of a move the new path, of a link its target, of a mode +x or -x
	lines []string // of whole all lines; of swap the old and the new one; of behind the one before and the new one
	from  []string // of whole: the lines that were there when it was made; nil: there was no file
	gone  []string // of whole where there was no file: the lines of the one that was deleted before
}

// paths returns the paths that the change may touch.
func (c *change) paths() []string {
	if c.does == "move" {
		return []string{c.path, c.to}
	}
	return []string{c.path}
}

// apply makes the change in the model. It returns false if it does not fit.
func (c *change) apply(files leaves) bool {
	now, there := files[c.path]
	regular := there && now.target == ""
	now.lines = slices.Clone(now.lines)
	fits := true
	switch c.does {
	case "whole":
		if there && !regular || !there && c.from != nil {
			return false
		}
		if c.from == nil {
			now.lines = c.lines
		} else {
			now.lines = c.rewritten(now.lines)
		}
	case "link":
		now = leaf{target: c.to}
	case "gone":
		delete(files, c.path)
		return there
	case "move":
		if _, taken := files[c.to]; taken || !there {
			return false
		}
		files[c.to] = now
		delete(files, c.path)
		return true
	case "mode":
		now.exec, fits = c.to == "+x", regular
	case "add":
		now.lines, fits = append(now.lines, c.lines[0]), regular
	default:
		now.lines, fits = c.edited(now.lines)
		fits = fits && regular
	}
	if fits {
		files[c.path] = now
	}
	return fits
}

// edited makes of some lines what the change of one of them makes, if that line is there.
func (c *change) edited(lines []string) ([]string, bool) {
	at := slices.Index(lines, c.lines[0])
	if at < 0 {
		return lines, false
	}
	switch c.does {
	case "swap":
		lines[at] = c.lines[1]
	case "behind":
		lines = slices.Insert(lines, at+1, c.lines[1])
	case "drop":
		lines = slices.Delete(lines, at, at+1)
	}
	return lines, true
}

// rewritten makes of some lines what a whole file that was written anew did with those that it had.
func (c *change) rewritten(lines []string) []string {
	lines = slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(c.from, l) && !slices.Contains(c.lines, l) })
	at := 0
	for _, l := range c.lines {
		if i := slices.Index(lines, l); i >= 0 {
			at = i + 1
		} else if !slices.Contains(c.from, l) {
			lines = slices.Insert(lines, at, l)
			at++
		}
	}
	return lines
}

// shell returns the shell line that makes the change.
func (c *change) shell() string {
	p := words("./" + c.path)
	switch c.does {
	case "whole":
		return "[ -L " + p + " ] || { room " + words(c.path) + "; printf '%s\\n' " + words(c.lines...) + " >" + p + "; }"
	case "link":
		return "room " + words(c.path) + "; ln -sfn -- " + words(c.to) + " " + p
	case "gone":
		return "rm -f -- " + p
	case "move":
		to := words("./" + c.to)
		return "[ -e " + to + " ] || [ -L " + to + " ] || move " + words(c.path, c.to)
	}
	edit := "chmod " + c.to + " " + p
	switch c.does {
	case "swap":
		edit = "sed -i 's/^" + c.lines[0] + "$/" + c.lines[1] + "/' " + p
	case "behind":
		edit = "sed -i '/^" + c.lines[0] + "$/a " + c.lines[1] + "' " + p
	case "drop":
		edit = "sed -i '/^" + c.lines[0] + "$/d' " + p
	case "add":
		edit = "echo " + c.lines[0] + " >>" + p
	}
	return "[ -L " + p + " ] || [ ! -f " + p + " ] || " + edit
}

// input returns the input of the agent's tool that makes the change, and the tool's name; an empty one
// if only a command can.
func (c *change) input() (tool, input string) {
	said := func(lines ...string) string { return fmt.Sprintf("%q", strings.Join(lines, "\n")+"\n") }
	var old, now string
	switch c.does {
	case "whole":
		return "Write", fmt.Sprintf(`{"file_path":%q,"content":%s}`, c.path, said(c.lines...))
	case "swap":
		old, now = said(c.lines[0]), said(c.lines[1])
	case "behind":
		old, now = said(c.lines[0]), said(c.lines...)
	case "drop":
		old, now = said(c.lines[0]), `""`
	default:
		return "", ""
	}
	return "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":%s,"new_string":%s}`, c.path, old, now)
}

// deed is what somebody does in a shared world.
type deed struct {
	who     string // of people
	does    string // an agent: prompt, before, work, after, fail or end; a person: work; any: revert
	turn    int    // of an agent
	call    int    // of an agent's use of a tool
	tool    string
	input   string
	changes []change

	to    int      // of a revert: the last turn that goes back
	form  string   // of a revert: step, steps, since, by or outside
	only  []string // of a revert: these paths alone
	marks bool     // of a revert: conflicts get markers
}

// hook returns the shell line of an agent's hook.
func (d *deed) hook() string {
	event, members := "Stop", `"last_assistant_message":""`
	use := fmt.Sprintf(`"tool_name":"%s","tool_use_id":"%s-%d","tool_input":%s`, d.tool, d.who, d.call, d.input)
	switch d.does {
	case "prompt":
		event, members = "UserPromptSubmit", fmt.Sprintf(`"prompt":"turn %s %d."`, d.who, d.turn)
	case "before":
		event, members = "PreToolUse", use
	case "after":
		event, members = "PostToolUse", use
	case "fail":
		event, members = "PostToolUseFailure", use
	}
	return words("hook", d.who, event, members)
}
