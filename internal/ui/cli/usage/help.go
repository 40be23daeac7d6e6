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

// errHelp and errBrief are how --help and -h leave the parser: kong stops at the first error.
var (
	errHelp  = errors.New("help was asked for")
	errBrief = errors.New("the short help was asked for")
)

// HelpFlag is --help. kong's own help flag would print kong's help and exit.
type HelpFlag bool

// BriefFlag is -h.
type BriefFlag bool

// BeforeReset stops the parser with errBrief, as that of HelpFlag does with errHelp.
func (BriefFlag) BeforeReset() error { return errBrief }

// IgnoreDefault is that of HelpFlag.
func (BriefFlag) IgnoreDefault() {}

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

// WriteHelp writes the whole help of a command, or of the program if node is the root of the grammar: usage,
// description, arguments, commands and options. node.Help is the one-line text in the struct tag, node.Detail the
// long one.
func WriteHelp(w io.Writer, style render.Style, node *kong.Node) error {
	h := &helpText{style: style}
	h.usage(node)
	h.prose(node.Help)
	h.prose(node.Detail)
	h.arguments(node)
	h.commands(node)
	h.options(node)
	h.more(node)
	_, err := io.WriteString(w, h.text.String())
	return err
}

// WriteBrief writes what fits on a screen. Of the program it describes the everyday commands and names the others,
// group by group; of a command it has the usage, examples and the options that most people need.
func WriteBrief(w io.Writer, style render.Style, node *kong.Node, everyday []string) error {
	h := &helpText{style: style}
	h.usage(node)
	h.prose(node.Help)
	if node.Type == kong.ApplicationNode {
		h.everyday(node, everyday)
		h.more(node)
	} else {
		h.examples(node)
		h.commands(node)
		h.mainOptions(node)
		h.prose("`" + strings.Replace(callOf(node), "checkpoint", "checkpoint help", 1) + "` says everything.")
	}
	_, err := io.WriteString(w, h.text.String())
	return err
}

// more names the other forms of the program's help.
func (h *helpText) more(node *kong.Node) {
	if node.Type == kong.ApplicationNode {
		h.prose("`git checkpoint help -a` describes these, `git checkpoint help <command>` says more about one, and `git help checkpoint` opens the manual.")
	}
}

// helpText builds the page that -h prints. manpage.go builds the man page from the same grammar.
type helpText struct {
	text  strings.Builder
	style render.Style
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

// everyday describes the commands of the list and names the other ones that are not unlisted.
func (h *helpText) everyday(node *kong.Node, list []string) {
	h.title("Every day:")
	var others []string
	for _, c := range node.Children {
		if !c.Hidden && !c.Tag.Has(unlistedTag) && !slices.ContainsFunc(list, func(called string) bool { return child(node, called) == c }) {
			others = append(others, c.Name)
		}
	}
	for _, called := range list {
		h.command(child(node, called))
	}
	h.names("More commands:", others)
}

// commands lists the subcommands, below the titles of their groups.
func (h *helpText) commands(node *kong.Node) {
	group := ""
	var unlisted []string
	for _, c := range node.Children {
		switch {
		case c.Hidden:
			continue
		case c.Tag.Has(unlistedTag):
			unlisted = append(unlisted, c.Name)
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
		h.command(c)
	}
	h.names("Also:", unlisted)
}

func (h *helpText) command(c *kong.Node) {
	h.row("   "+strings.Join(append([]string{c.Name}, c.Aliases...), ", "), c.Help)
}

// names lists commands by name alone.
func (h *helpText) names(title string, all []string) {
	if len(all) == 0 {
		return
	}
	h.title(title)
	slices.Sort(all)
	for _, line := range wrapped(strings.Join(all, ", "), textWidth-3) {
		h.text.WriteString("   " + line + "\n")
	}
}

// unlistedTag marks commands that the help of the program only names: few people type them.
const unlistedTag = "unlisted"

// Keys of groups of flags, in the order of their titles in the help. A flag without a group is an option of its
// command.
var flagGroups = []struct{ key, title string }{
	{"", "Options:"}, {"workflow", "For workflows:"}, {"program", "For programs:"}, {"common", "Common options:"},
}

// options lists the command's own flags by group. Those of every command are common.
func (h *helpText) options(node *kong.Node) {
	flags := slices.Clone(node.Flags)
	if node.Type != kong.ApplicationNode {
		flags = append(flags, root(node).Flags...)
	}
	for _, group := range flagGroups {
		titled := false
		for _, f := range flags {
			if f.Hidden || groupOf(f) != group.key {
				continue
			}
			if !titled {
				h.title(group.title)
				titled = true
			}
			h.row(optionText(f), kong.DefaultHelpValueFormatter(f.Value))
		}
	}
}

func groupOf(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Key
}

// briefTag marks the flags that come first in the short help.
const (
	briefTag     = "brief"
	mostOptions  = 7
	mostExamples = 3
	mostLines    = 24
)

// mainOptions lists the options that most people need, each with the first part of its description: those that are
// marked, then others without a group.
func (h *helpText) mainOptions(node *kong.Node) {
	var marked, others []*kong.Flag
	for _, f := range node.Flags {
		switch {
		case f.Hidden:
		case f.Tag.Has(briefTag):
			marked = append(marked, f)
		case groupOf(f) == "":
			others = append(others, f)
		}
	}
	shown := append(marked, others...)
	shown = shown[:min(len(shown), mostOptions)]
	if len(shown) > 0 {
		h.title("Options:")
	}
	for _, f := range shown {
		text, _, _ := strings.Cut(firstSentence(kong.DefaultHelpValueFormatter(f.Value)), "; ")
		row := helpText{style: h.style}
		row.row(optionText(f), strings.TrimSuffix(text, ".")+".")
		if strings.Count(h.text.String()+row.text.String(), "\n") > mostLines-2 { // the last line and the blank one before it
			return
		}
		h.text.WriteString(row.text.String())
	}
}

// examples shows the first examples of the long help.
func (h *helpText) examples(node *kong.Node) {
	shown := 0
	for line := range strings.Lines(node.Detail) {
		if strings.HasPrefix(line, "    git checkpoint ") && shown < mostExamples {
			if shown == 0 {
				h.text.WriteByte('\n')
			}
			shown++
			h.text.WriteString(line)
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

// row writes a name and its description beside it, or below it if the name is too long.
func (h *helpText) row(name, text string) {
	const helpColumn = 30 // the column in which descriptions begin
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
