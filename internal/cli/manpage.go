package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// ManPage is what a man page says beyond what the commands say of themselves. Its
// prose has paragraphs parted by empty lines, indented blocks that are shown as they
// are, and `literals` in backquotes, like the details of the commands.
type ManPage struct {
	Date        time.Time // zero: none
	Source      string    // "git-checkpoint 1.0"
	Summary     string    // one line; empty: what the help says of the program
	Description string
	// Lists of terms. One that is empty has no section.
	ExitStatus, Configuration, Environment, Files []ManEntry
	SeeAlso                                       []string // "git-stash(1)"
}

// ManEntry is a term and what it means.
type ManEntry struct{ Term, Text string }

// WriteManPage writes the man page of app in section 1, in the manner of git's own
// pages. What is hidden in the help is hidden here.
func WriteManPage(w io.Writer, app *kong.Application, page ManPage) error {
	name := newManName(app.Name)
	m := &manWriter{name: name}
	m.head(page)
	m.section("NAME")
	m.line(roff(name.dashed) + ` \- ` + roff(strings.TrimSuffix(cmp.Or(page.Summary, app.Help), ".")))
	m.synopsis(app.Node)
	if page.Description != "" || app.Detail != "" {
		m.section("DESCRIPTION")
		m.prose(page.Description)
		m.prose(app.Detail)
	}
	if visibleFlags(app.Node) > 0 {
		m.section("OPTIONS")
		m.flags(app.Node)
	}
	m.commands(app.Node)
	for _, list := range []struct {
		title   string
		entries []ManEntry
	}{
		{"EXIT STATUS", page.ExitStatus},
		{"CONFIGURATION", page.Configuration},
		{"ENVIRONMENT", page.Environment},
		{"FILES", page.Files},
	} {
		m.entries(list.title, list.entries)
	}
	m.seeAlso(page.SeeAlso)
	_, err := io.WriteString(w, m.text.String())
	return err
}

// manName is the two ways of writing the program's name: git-checkpoint, as the file
// is called, and git checkpoint, as it is typed.
type manName struct{ dashed, typed string }

func newManName(name string) manName {
	dashed := strings.ReplaceAll(name, " ", "-")
	return manName{dashed, strings.Replace(dashed, "git-", "git ", 1)}
}

type manWriter struct {
	name  manName
	text  strings.Builder
	fresh bool // nothing stands yet in this section or indentation
}

// head switches hyphenation and justification off, as git's pages do: both spoil what
// is to be copied from them.
func (m *manWriter) head(page ManPage) {
	date := ""
	if !page.Date.IsZero() {
		date = page.Date.UTC().Format(time.DateOnly)
	}
	m.line(fmt.Sprintf(`.TH "%s" "1" "%s" "%s" "Git Manual"`,
		roff(strings.ToUpper(m.name.dashed)), date, roff(page.Source)))
	m.line(".nh")
	m.line(".ad l")
}

func (m *manWriter) line(s string) {
	m.text.WriteString(s + "\n")
	m.fresh = strings.HasPrefix(s, ".RS") || strings.HasPrefix(s, ".SH") || strings.HasPrefix(s, ".SS")
}

// gap parts a paragraph from what is above it, unless that has done so already.
func (m *manWriter) gap(request string) {
	if !m.fresh {
		m.line(request)
	}
}

func (m *manWriter) section(title string) { m.line(`.SH "` + roff(title) + `"`) }

func (m *manWriter) synopsis(root *kong.Node) {
	m.section("SYNOPSIS")
	m.line(".nf")
	m.line(`\fI` + roff(m.name.typed) + `\fR`)
	for _, leaf := range root.Leaves(true) {
		if !hiddenAbove(leaf) {
			m.line(`\fI` + roff(m.name.typed) + `\fR ` + roff(usage(leaf)))
		}
	}
	m.line(".fi")
}

func hiddenAbove(n *kong.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Hidden {
			return true
		}
	}
	return false
}

// usage is a command as it is typed, without its aliases: "session start [<options>]
// <name>".
func usage(n *kong.Node) string {
	words := []string{spelled(n)}
	required := ""
	optional := false
	for _, f := range n.Flags {
		switch {
		case f.Hidden:
		case f.Required:
			required += " " + f.Summary()
		default:
			optional = true
		}
	}
	if optional {
		words = append(words, "[<options>]")
	}
	if required != "" {
		words = append(words, required[1:])
	}
	if len(n.Children) > 0 {
		words = append(words, "<command>")
	}
	for _, p := range n.Positional {
		word := strings.ReplaceAll(p.Summary(), " ...", "...")
		if p.Tag.Has("dashed") {
			word = strings.Replace(word, "[", "[-- ", 1)
			if p.Tag.Get("dashed") != "" { // the command cannot do without it
				word = strings.Trim(word, "[]")
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// spelled is the path of a command below the program, by its proper names.
func spelled(n *kong.Node) string {
	var words []string
	for ; n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
		word := n.Name
		if n.Type == kong.ArgumentNode {
			word = "<" + word + ">"
		}
		words = append([]string{word}, words...)
	}
	return strings.Join(words, " ")
}

// commands lists every command below root in the order of the help: those without a
// group, then group after group.
func (m *manWriter) commands(root *kong.Node) {
	var order []string
	groups := map[string][]*kong.Node{}
	titles := map[string]string{}
	for _, n := range root.Children {
		if n.Hidden {
			continue
		}
		key := ""
		if g := n.ClosestGroup(); g != nil {
			key, titles[g.Key] = g.Key, strings.TrimSuffix(g.Title, ":")
		}
		if groups[key] == nil && key != "" {
			order = append(order, key)
		}
		groups[key] = append(groups[key], n)
	}
	if len(groups) > 0 {
		m.section("COMMANDS")
	}
	for _, key := range append([]string{""}, order...) {
		if titles[key] != "" {
			m.line(`.SS "` + roff(titles[key]) + `"`)
		}
		for _, n := range groups[key] {
			m.command(n)
		}
	}
}

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
		m.prose("Without a command it is `" + spelled(n.DefaultCmd) + "`.")
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

func visibleFlags(n *kong.Node) (count int) {
	for _, f := range n.Flags {
		if !f.Hidden {
			count++
		}
	}
	return count
}

// flags are the command's own; those of the commands above it stand there.
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

func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// longName writes a flag that can be negated as kong's help does.
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

func (m *manWriter) term(formatted, text string) {
	m.gap(".PP")
	m.line(formatted)
	m.line(".RS 4")
	m.prose(text)
	m.line(".RE")
}

func (m *manWriter) entries(title string, entries []ManEntry) {
	if len(entries) == 0 {
		return
	}
	m.section(title)
	for _, e := range entries {
		m.term(`\fB`+roff(e.Term)+`\fR`, e.Text)
	}
}

func (m *manWriter) seeAlso(pages []string) {
	if len(pages) == 0 {
		return
	}
	m.section("SEE ALSO")
	formatted := make([]string, len(pages))
	for i, page := range pages {
		name, section, _ := strings.Cut(page, "(")
		formatted[i] = `\fB` + roff(name) + `\fR`
		if section != "" {
			formatted[i] += "(" + roff(section)
		}
	}
	m.line(strings.Join(formatted, ", "))
}

// prose writes paragraphs and indented blocks, each after a blank line.
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

func indented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
}

// roffParagraph is a paragraph with what stands in backquotes in bold. A single backquote
// is one.
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

// roff makes s stand for itself at the start of a line.
func roff(s string) string {
	escaped := roffInside(s)
	if strings.HasPrefix(escaped, ".") { // also where what came first is left out
		return `\&` + escaped
	}
	return escaped
}

// roffInside replaces what troff would take for something else: its own backslash, and
// the ASCII characters that it prints as typographic ones, which nobody can copy into a
// shell. Characters beyond ASCII are named, for a troff that reads Latin-1.
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
