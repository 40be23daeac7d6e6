package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// The man page is in the man macros of roff, like git's own pages: a line that begins with a dot is
// a request (.SH starts a section, .PP a paragraph, .RS and .RE indent), and \fB, \fI and \fR switch
// to bold, italic and back. manWriter writes requests, and roff escapes text.

// WriteManPage writes the man page of app for section 1, laid out like git's own pages. Commands
// and flags that are hidden in the help are hidden here too.
//
// rest is what the grammar does not say: the section DESCRIPTION, and then further sections. In it,
// empty lines separate paragraphs. "# TITLE" starts a section, whose paragraphs are either prose or
// of the form "term: description". Backquotes mark literals.
func WriteManPage(w io.Writer, app *kong.Application, rest string) error {
	m := &manWriter{}
	dashed := roff(strings.ReplaceAll(app.Name, " ", "-"))
	// No date: the page is the same in every build. No hyphenation (.nh) and no justification
	// (.ad l), as in git's pages: both would alter commands that people copy from the page.
	m.line(fmt.Sprintf(`.TH "%s" "1" "" "%s" "Git Manual"`, strings.ToUpper(dashed), dashed))
	m.line(".nh")
	m.line(".ad l")
	m.section("NAME")
	m.line(dashed + ` \- ` + roff(strings.TrimSuffix(app.Help, ".")))
	m.synopsis(app)
	description, sections, _ := strings.Cut(rest, "\n# ")
	m.section("DESCRIPTION")
	m.prose(description)
	m.section("OPTIONS")
	m.flags(app.Node)
	m.commands(app.Node)
	m.sections("# " + sections)
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
		m.line(`\fI` + roff(app.Name) + `\fR ` + roff(usage(leaf)))
	}
	m.line(".fi")
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
		case p.Tag.Has("bare"): // these words may go after "--"
			word = strings.Replace(word, "[", "[[--] ", 1)
		case p.Tag.Has("dashed"): // these must
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
	for _, n := range root.Children {
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

// sections writes sections of terms or prose; see WriteManPage.
func (m *manWriter) sections(text string) {
	for _, block := range blocks(text) {
		title, isTitle := strings.CutPrefix(block, "# ")
		term, description, isTerm := strings.Cut(block, ": ")
		switch {
		case isTitle:
			m.section(title)
		case isTerm:
			m.term(`\fB`+roff(term)+`\fR`, description)
		default:
			m.prose(block)
		}
	}
}

// prose writes paragraphs and examples. An example is printed unfilled (.nf), so that its lines stay
// as they are.
func (m *manWriter) prose(text string) {
	for _, block := range blocks(text) {
		m.gap(".sp")
		if !indented(block) {
			m.line(roffParagraph(strings.Join(strings.Fields(block), " ")))
			continue
		}
		m.line(".RS 4")
		m.line(".nf")
		for line := range strings.SplitSeq(block, "\n") {
			m.line(roff(strings.TrimPrefix(line, "    ")))
		}
		m.line(".fi")
		m.line(".RE")
	}
}

// blocks returns the paragraphs and examples of a text, which empty lines separate.
func blocks(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.Trim(text, "\n"), "\n\n", "\x00"), func(r rune) bool { return r == 0 })
}

// indented reports whether a block is indented: it is an example.
func indented(block string) bool { return strings.HasPrefix(block, " ") }

// roffParagraph escapes a paragraph and prints in bold what is in backquotes. If their number is
// odd, they are not pairs, and all of them are printed as backquotes.
func roffParagraph(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return roff(text)
	}
	for i, part := range parts {
		if parts[i] = roffInside(part); i%2 == 1 {
			parts[i] = `\fB` + parts[i] + `\fR`
		}
	}
	return undotted(strings.Join(parts, ""))
}

// roff escapes text that stands at the beginning of a line, where a dot would start a request.
func roff(s string) string { return undotted(roffInside(s)) }

// undotted hides a dot at the beginning behind \&, which is an empty character.
func undotted(escaped string) string {
	if strings.HasPrefix(escaped, ".") {
		return `\&` + escaped
	}
	return escaped
}

// roffEscapes replaces, besides the backslash, ASCII characters that troff prints as typographic
// ones (a hyphen, quotes, accents), because a shell does not understand them when they are copied.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`, "\n", " ", "\t", " ")

// roffInside escapes text within a line. Characters beyond ASCII are written by their code, for a
// troff that reads its input as Latin-1. Control characters are dropped.
func roffInside(s string) string {
	var b strings.Builder
	for _, r := range roffEscapes.Replace(s) {
		switch {
		case r < 0x20 || r == 0x7f:
		case r > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
