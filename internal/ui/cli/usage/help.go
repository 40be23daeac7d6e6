package usage

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/format/render"
)

// errHelp is how -h and --help leave the parser: kong stops at the first error.
var errHelp = errors.New("help was asked for")

// HelpFlag is -h, --help. kong's own help flag would print kong's help and exit.
type HelpFlag bool

// BeforeReset stops the parser with errHelp. kong calls this hook before it checks that required
// arguments are there, so "rollback -h" needs none.
func (HelpFlag) BeforeReset() error { return errHelp }

// IgnoreDefault makes "git checkpoint -h" the help of the program, not of its default command.
func (HelpFlag) IgnoreDefault() {}

// Find returns the command that words name, below node.
func Find(node *kong.Node, words ...string) (*kong.Node, error) {
	for _, word := range words {
		found := child(node, word)
		if found == nil {
			return nil, Error(fmt.Sprintf("%q is not a command of %s", word, callOf(node)), nearest(word, node)...)
		}
		node = found
	}
	return node, nil
}

// textWidth is the width of the help in columns. It does not depend on the terminal, so that the
// help looks the same in a script, and tests can compare it.
const textWidth = 80

// WriteHelp writes the help of a command, or of the program if node is the root of the grammar:
// usage, description, arguments, commands and options. node.Help is the one-line text in the struct
// tag, node.Detail the long one.
func WriteHelp(w io.Writer, style render.Style, node *kong.Node) error {
	return write(w, &helpText{style: style}, node)
}

// WriteBrief is WriteHelp that describes the everyday commands only and names the others, group by group.
// For a single command it is the same.
func WriteBrief(w io.Writer, style render.Style, node *kong.Node, everyday []string) error {
	return write(w, &helpText{style: style, everyday: everyday}, node)
}

func write(w io.Writer, h *helpText, node *kong.Node) error {
	h.usage(node)
	h.prose(node.Help)
	h.prose(node.Detail)
	h.arguments(node)
	if node.Type == kong.ApplicationNode && len(h.everyday) > 0 {
		h.brief(node)
	} else {
		h.commands(node)
	}
	h.options(node)
	if node.Type == kong.ApplicationNode {
		h.prose("`git checkpoint help -a` describes all commands, `git checkpoint help <command>` says more about one, and `git help checkpoint` opens the manual.")
	}
	_, err := io.WriteString(w, h.text.String())
	return err
}

// helpText builds the page that -h prints. manpage.go builds the man page from the same grammar.
type helpText struct {
	text  strings.Builder
	style render.Style
	// everyday are the commands that the short help of the program describes, in this order.
	everyday []string
}

// usage writes the usage lines in the style of git.
func (h *helpText) usage(node *kong.Node) {
	for i, leaf := range usages(node) {
		word := "usage:"
		if i > 0 {
			word = "   or:"
		}
		fmt.Fprintf(&h.text, "%s %s\n", h.style.Paint(render.Heading, word), leaf)
	}
}

// usages returns the usage lines of a command: its own, or one for each of its subcommands.
func usages(node *kong.Node) (lines []string) {
	if node.Type == kong.ApplicationNode {
		return []string{node.Name, node.Name + " <command> [<options>]"}
	}
	program := root(node).Name
	if len(node.Children) == 0 {
		return []string{program + " " + usage(node)}
	}
	for _, c := range node.Children {
		if !c.Hidden {
			lines = append(lines, program+" "+usage(c))
		}
	}
	return lines
}

// arguments lists the positional arguments.
func (h *helpText) arguments(node *kong.Node) {
	for i, p := range node.Positional {
		if i == 0 {
			h.title("Arguments:")
		}
		h.row("   <"+p.Name+">", kong.DefaultHelpValueFormatter(p))
	}
}

// brief describes the everyday commands and names the rest.
func (h *helpText) brief(node *kong.Node) {
	h.title("Every day:")
	for _, called := range h.everyday {
		if c := child(node, called); c != nil {
			h.row("   "+strings.Join(append([]string{c.Name}, c.Aliases...), ", "), c.Help)
		}
	}
	h.title("More commands:")
	group, names := "", []string(nil)
	flush := func() {
		if len(names) > 0 {
			h.row("   "+strings.TrimSuffix(group, ":"), strings.Join(names, ", "))
		}
		names = nil
	}
	for _, c := range node.Children {
		if c.Hidden || c.Group == nil || slices.ContainsFunc(h.everyday, func(called string) bool { return child(node, called) == c }) {
			continue
		}
		if c.Group.Title != group {
			flush()
			group = c.Group.Title
		}
		names = append(names, c.Name)
	}
	flush()
}

// commands lists the subcommands, below the titles of their groups.
func (h *helpText) commands(node *kong.Node) {
	group := ""
	for _, c := range node.Children {
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

// options lists the command's own flags, then those that every command has.
func (h *helpText) options(node *kong.Node) {
	for _, at := range []struct {
		title string
		node  *kong.Node
	}{{"Options:", node}, {"Options of every command:", root(node)}} {
		visible := slices.ContainsFunc(at.node.Flags, func(f *kong.Flag) bool { return !f.Hidden })
		if !visible || at.title == "Options:" && at.node.Type == kong.ApplicationNode {
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

// optionText is a flag as the help spells it: "   -n, --dry-run", "       --step=<n>".
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

// title writes the heading of a section.
func (h *helpText) title(text string) {
	fmt.Fprintf(&h.text, "\n%s\n", h.style.Paint(render.Heading, text))
}

// helpColumn is the column in which descriptions begin.
const helpColumn = 30

// row writes a name and its description beside it, or below it if the name is too long.
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

// prose writes text whose paragraphs are separated by empty lines. It wraps paragraphs at textWidth
// and leaves indented blocks, which are examples, as they are.
func (h *helpText) prose(text string) {
	for _, block := range blocks(text) {
		h.text.WriteByte('\n')
		if indented(block) {
			h.text.WriteString(block + "\n")
			continue
		}
		for _, line := range wrapped(quoted(block), textWidth) {
			h.text.WriteString(line + "\n")
		}
	}
}

// quoted replaces backquotes by apostrophes. Help texts mark literals with backquotes, which the
// man page prints in bold.
func quoted(text string) string { return strings.ReplaceAll(text, "`", "'") }

// wrapped breaks a text into lines of at most width columns, between words.
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

// root returns the root of the grammar that a node belongs to.
func root(node *kong.Node) *kong.Node {
	for node.Parent != nil {
		node = node.Parent
	}
	return node
}

// callOf is a command as it is typed, without flags: "git checkpoint session start".
func callOf(node *kong.Node) string { return strings.TrimSpace(root(node).Name + " " + Spelled(node)) }
