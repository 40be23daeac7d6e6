package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/render"
)

// errHelp is how -h and --help leave the parsing of a line.
var errHelp = errors.New("help was asked for")

// helpFlag is -h, --help.
type helpFlag bool

// BeforeReset comes before anything that is missing from the line is noticed.
func (helpFlag) BeforeReset() error { return errHelp }

// IgnoreDefault keeps "git checkpoint -h" from being the help of the bare command.
func (helpFlag) IgnoreDefault() {}

// HelpCmd is help.
type HelpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to show the help of." complete:"command"`
}

// Run shows the help of the whole or of one command.
func (c *HelpCmd) Run(app *App) error {
	node := app.model.Node
	for _, word := range c.Command {
		found := child(node, word)
		if found == nil {
			return usageError(fmt.Sprintf("%q is no command of %s", word, callOf(node)), nearest(word, node)...)
		}
		node = found
	}
	return app.help(node)
}

// textWidth is fixed, so that the help reads the same in a script and in a terminal.
const textWidth = 80

func (a *App) help(node *kong.Node) error {
	h := &helpText{style: a.view.Style}
	h.usage(node)
	h.prose(node.Help)
	h.prose(node.Detail)
	h.arguments(node)
	h.commands(node)
	h.options(node)
	if node.Type == kong.ApplicationNode {
		h.prose("`git checkpoint help <command>` says more about one command, `git help checkpoint` opens the manual.")
	}
	_, err := io.WriteString(a.Terminal.Out, h.text.String())
	return err
}

// helpText fills the page that -h shows. It and the man page read the same grammar.
type helpText struct {
	text  strings.Builder
	style render.Style
}

func (h *helpText) usage(node *kong.Node) {
	for i, leaf := range usages(node) {
		word := "usage:"
		if i > 0 {
			word = "   or:"
		}
		fmt.Fprintf(&h.text, "%s %s\n", h.style.Paint(render.Heading, word), leaf)
	}
}

func usages(node *kong.Node) (lines []string) {
	if node.Type == kong.ApplicationNode {
		return []string{programName, programName + " <command> [<options>]"}
	}
	if len(node.Children) == 0 {
		return []string{programName + " " + usage(node)}
	}
	for _, c := range node.Children {
		if !c.Hidden {
			lines = append(lines, programName+" "+usage(c))
		}
	}
	return lines
}

func (h *helpText) arguments(node *kong.Node) {
	for i, p := range node.Positional {
		if i == 0 {
			h.title("Arguments:")
		}
		h.row("   <"+p.Name+">", kong.DefaultHelpValueFormatter(p))
	}
}

func (h *helpText) commands(node *kong.Node) {
	group := ""
	for _, c := range inGroups(node) {
		if c.Hidden {
			continue
		}
		title := "Commands:"
		if c.Group != nil {
			title = c.Group.Title
		}
		if title != group {
			group = title
			h.title(title)
		}
		name := c.Name
		if len(c.Aliases) > 0 {
			name += ", " + strings.Join(c.Aliases, ", ")
		}
		h.row("   "+name, c.Help)
	}
}

// inGroups orders commands by group, as the grammar first names them.
func inGroups(node *kong.Node) []*kong.Node {
	order := map[string]int{}
	key := func(n *kong.Node) string {
		if g := n.ClosestGroup(); g != nil {
			return g.Key
		}
		return ""
	}
	for _, c := range node.Children {
		if _, known := order[key(c)]; !known {
			order[key(c)] = len(order)
		}
	}
	sorted := slices.Clone(node.Children)
	slices.SortStableFunc(sorted, func(x, y *kong.Node) int { return order[key(x)] - order[key(y)] })
	return sorted
}

func (h *helpText) options(node *kong.Node) {
	for _, at := range []struct {
		title string
		node  *kong.Node
	}{{"Options:", node}, {"Options of every command:", root(node)}} {
		if visibleFlags(at.node) == 0 || at.title == "Options:" && at.node.Type == kong.ApplicationNode {
			continue
		}
		h.title(at.title)
		for _, f := range at.node.Flags {
			if !f.Hidden {
				h.row(optionText(f), kong.DefaultHelpValueFormatter(f.Value))
			}
		}
	}
}

func optionText(f *kong.Flag) string {
	name := "    "
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", "
	}
	name += "--" + longName(f)
	if takesValue(f) {
		name += "=" + f.FormatPlaceHolder()
	}
	return "   " + name
}

func (h *helpText) title(text string) {
	fmt.Fprintf(&h.text, "\n%s\n", h.style.Paint(render.Heading, text))
}

const helpColumn = 30

// row is a name and, beside it or below it, what it means.
func (h *helpText) row(name, text string) {
	lines := wrapped(quoted(text), textWidth-helpColumn)
	if len(name) > helpColumn-2 {
		h.text.WriteString(name + "\n")
		name = ""
	}
	for _, line := range lines {
		fmt.Fprintf(&h.text, "%-*s%s\n", helpColumn, name, line)
		name = ""
	}
}

// prose writes paragraphs filled to the width, and indented blocks as they are.
func (h *helpText) prose(text string) {
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if block == "" {
			continue
		}
		h.text.WriteByte('\n')
		if indented(block) {
			h.text.WriteString(strings.TrimRight(block, "\n") + "\n")
			continue
		}
		for _, line := range wrapped(quoted(block), textWidth) {
			h.text.WriteString(line + "\n")
		}
	}
}

// quoted shows the literals that the man page prints in bold.
func quoted(text string) string { return strings.ReplaceAll(text, "`", "'") }

func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && render.Width(line)+1+render.Width(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func root(node *kong.Node) *kong.Node {
	for node.Parent != nil {
		node = node.Parent
	}
	return node
}

// callOf is a command as it is typed: git checkpoint session start.
func callOf(node *kong.Node) string { return strings.TrimSpace(programName + " " + spelled(node)) }
