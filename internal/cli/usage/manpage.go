package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// ManPage is the text of the man page that the grammar does not provide. In its prose, paragraphs
// are separated by empty lines, indented blocks are printed as they are, and backquotes mark
// literals, as in the help texts of the commands.
//
// The page is in the man macros of roff, like git's own pages: a line that begins with a dot is a
// request (.SH starts a section, .PP a paragraph, .RS and .RE indent), and \fB, \fI and \fR switch
// to bold, italic and back. manWriter writes requests, and roff and roffInside escape text.
type ManPage struct {
	// Source is the program with its version, as in "git-checkpoint 1.0".
	Source      string
	Description string
	// These lists become sections of terms.
	ExitStatus, Configuration, Environment, Files []ManEntry
	// SeeAlso are other pages, as in "git-stash(1)".
	SeeAlso []string
}

// ManEntry is a term and its description.
type ManEntry [2]string

// WriteManPage writes the man page of app for section 1, laid out like git's own pages. Commands
// and flags that are hidden in the help are hidden here too.
func WriteManPage(w io.Writer, app *kong.Application, page ManPage) error {
	m := &manWriter{}
	dashed := strings.ReplaceAll(app.Name, " ", "-")
	m.head(dashed, page.Source)
	m.section("NAME")
	m.line(roff(dashed) + ` \- ` + roff(strings.TrimSuffix(app.Help, ".")))
	m.synopsis(app)
	m.section("DESCRIPTION")
	m.prose(page.Description)
	m.section("OPTIONS")
	m.flags(app.Node)
	m.commands(app.Node)
	m.entries("EXIT STATUS", page.ExitStatus)
	m.entries("CONFIGURATION", page.Configuration)
	m.entries("ENVIRONMENT", page.Environment)
	m.entries("FILES", page.Files)
	m.seeAlso(page.SeeAlso)
	_, err := io.WriteString(w, m.text.String())
	return err
}

// manWriter builds the page.
type manWriter struct {
	text strings.Builder
	// fresh is set if nothing has been written yet in this section or indentation, so that no space
	// is needed above the next paragraph.
	fresh bool
}

// head writes the title line, which has no date, and switches off hyphenation (.nh) and
// justification (.ad l) as git's pages do: both would alter commands that people copy from the
// page.
func (m *manWriter) head(name, source string) {
	m.line(fmt.Sprintf(`.TH "%s" "1" "" "%s" "Git Manual"`, roff(strings.ToUpper(name)), roff(source)))
	m.line(".nh")
	m.line(".ad l")
}

// line writes one line: a request, or text that is already escaped.
func (m *manWriter) line(s string) {
	m.text.WriteString(s + "\n")
	m.fresh = strings.HasPrefix(s, ".RS") || strings.HasPrefix(s, ".SH") || strings.HasPrefix(s, ".SS")
}

// gap writes a request that starts a paragraph (.PP or .sp), unless the section or indentation has
// only begun and needs none.
func (m *manWriter) gap(request string) {
	if !m.fresh {
		m.line(request)
	}
}

// section starts a section.
func (m *manWriter) section(title string) { m.line(`.SH "` + roff(title) + `"`) }

// synopsis writes the usage of every visible command.
func (m *manWriter) synopsis(app *kong.Application) {
	m.section("SYNOPSIS")
	m.line(".nf")
	m.line(`\fI` + roff(app.Name) + `\fR`)
	for _, leaf := range app.Leaves(true) {
		if !hiddenAbove(leaf) {
			m.line(`\fI` + roff(app.Name) + `\fR ` + roff(usage(leaf)))
		}
	}
	m.line(".fi")
}

// hiddenAbove reports whether a command, or one that it belongs to, is hidden.
func hiddenAbove(n *kong.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Hidden {
			return true
		}
	}
	return false
}

// usage is a command with its arguments, as it is typed: "session start [<options>] <name>".
// Aliases are left out.
func usage(n *kong.Node) string {
	words := []string{Spelled(n)}
	var required []string
	optional := false
	for _, f := range n.Flags {
		switch {
		case f.Hidden:
		case f.Required:
			required = append(required, f.Summary())
		default:
			optional = true
		}
	}
	if optional {
		words = append(words, "[<options>]")
	}
	words = append(words, required...)
	if len(n.Children) > 0 {
		words = append(words, "<command>")
	}
	for _, p := range n.Positional {
		word := strings.ReplaceAll(p.Summary(), " ...", "...")
		switch {
		case p.Tag.Has("dashed"): // these words go after "--"
			word = strings.Replace(word, "[", "[-- ", 1)
		case p.Tag.Has("command"): // it is optional for kong only: package run has a better error
			word = strings.Trim(word, "[]")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Spelled is the name of a command with those above it: "session start". For the program it is
// empty.
func Spelled(n *kong.Node) string {
	var words []string
	for ; n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}

// commands describes every command, group by group.
func (m *manWriter) commands(root *kong.Node) {
	m.section("COMMANDS")
	title := ""
	for _, n := range inGroups(root) {
		if n.Hidden {
			continue
		}
		if g := n.ClosestGroup(); g != nil && g.Title != title {
			title = g.Title
			m.line(`.SS "` + roff(strings.TrimSuffix(title, ":")) + `"`)
		}
		m.command(n)
	}
}

// command describes a command with its aliases, arguments, flags and subcommands.
func (m *manWriter) command(n *kong.Node) {
	m.gap(".PP")
	m.line(`\fB` + roff(usage(n)) + `\fR`)
	m.line(".RS 4")
	m.prose(n.Help)
	m.prose(n.Detail)
	if len(n.Aliases) > 0 {
		m.prose("Also: `" + strings.Join(n.Aliases, "`, `") + "`.")
	}
	if n.DefaultCmd != nil && !n.DefaultCmd.Hidden {
		m.prose("Without a command it is `" + Spelled(n.DefaultCmd) + "`.")
	}
	for _, p := range n.Positional {
		if p.Help != "" {
			m.term(`\fI`+roff("<"+p.Name+">")+`\fR`, kong.DefaultHelpValueFormatter(p))
		}
	}
	m.flags(n)
	m.line(".RE")
	for _, child := range n.Children {
		if !child.Hidden {
			m.command(child)
		}
	}
}

// flags describes the flags of a command itself. Flags of the commands above it are described
// there.
func (m *manWriter) flags(n *kong.Node) {
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		term := ""
		if f.Short != 0 {
			term = `\fB` + roff("-"+string(f.Short)) + `\fR, `
		}
		term += `\fB` + roff("--"+longName(f)) + `\fR`
		if takesValue(f) {
			term += `=\fI` + roff(f.FormatPlaceHolder()) + `\fR`
		}
		m.term(term, kong.DefaultHelpValueFormatter(f.Value))
	}
}

// takesValue reports whether a flag has a value, as opposed to a switch or a counter such as -C -C.
func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// longName is the long name of a flag. One that can be negated shows both forms, as in kong's help:
// "[no-]tag".
func longName(f *kong.Flag) string {
	switch negation := f.Tag.Negatable; {
	case negation == "" || !f.IsBool():
		return f.Name
	case negation == "_": // kong's mark for --no-NAME
		return "[no-]" + f.Name
	default:
		return f.Name + "/" + negation
	}
}

// term writes a term, which is already formatted, and its description indented below it.
func (m *manWriter) term(formatted, text string) {
	m.gap(".PP")
	m.line(formatted)
	m.line(".RS 4")
	m.prose(text)
	m.line(".RE")
}

// entries writes a section of terms.
func (m *manWriter) entries(title string, entries []ManEntry) {
	m.section(title)
	for _, e := range entries {
		m.term(`\fB`+roff(e[0])+`\fR`, e[1])
	}
}

// seeAlso writes the names of other pages in bold, separated by commas.
func (m *manWriter) seeAlso(pages []string) {
	m.section("SEE ALSO")
	formatted := make([]string, len(pages))
	for i, page := range pages {
		name, section, _ := strings.Cut(page, "(")
		formatted[i] = `\fB` + roff(name) + `\fR(` + roff(section)
	}
	m.line(strings.Join(formatted, ", "))
}

// prose writes paragraphs and indented blocks. An indented block is printed unfilled (.nf), so that
// its lines stay as they are.
func (m *manWriter) prose(text string) {
	var block []string
	flush := func() {
		if len(block) == 0 {
			return
		}
		m.gap(".sp")
		if indented(block[0]) {
			m.line(".RS 4")
			m.line(".nf")
			for _, l := range block {
				m.line(roff(strings.TrimPrefix(strings.TrimPrefix(l, "\t"), "    ")))
			}
			m.line(".fi")
			m.line(".RE")
		} else {
			m.line(roffParagraph(strings.Join(block, " ")))
		}
		block = nil
	}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \t\r\n")
		if l == "" || len(block) > 0 && indented(l) != indented(block[0]) {
			flush()
		}
		if l != "" {
			block = append(block, l)
		}
	}
	flush()
}

// indented reports whether a line, or the first line of a block, is indented: it is an example.
func indented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
}

// roffParagraph escapes a paragraph and prints in bold what is in backquotes. If their number is
// odd, they are not pairs, and all of them are printed as backquotes.
func roffParagraph(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return roff(text)
	}
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0 && i == 0:
			b.WriteString(roff(part))
		case i%2 == 0:
			b.WriteString(roffInside(part))
		default:
			b.WriteString(`\fB` + roffInside(part) + `\fR`)
		}
	}
	return b.String()
}

// roff escapes text that stands at the beginning of a line, where a dot would start a request.
func roff(s string) string {
	escaped := roffInside(s)
	if strings.HasPrefix(escaped, ".") { // \& is an empty character, which hides the dot
		return `\&` + escaped
	}
	return escaped
}

// roffInside escapes text within a line. Besides the backslash it replaces ASCII characters that
// troff prints as typographic ones (a hyphen, quotes, accents), because a shell does not understand
// them when they are copied. Characters beyond ASCII are written by their code, for a troff that
// reads its input as Latin-1. Control characters are dropped.
func roffInside(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < 0x20 || r == 0x7f:
		case r > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
