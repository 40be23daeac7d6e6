package answer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/blame"
	"git-checkpoint/internal/verb/why"
	"git-checkpoint/internal/verb/witness"
)

// Reasons is the answer of why for lines.
type Reasons []why.Line

// text writes what is behind each line. Lines in a row with the same answer stand together.
func (a Reasons) text(p *page) {
	for i, l := range a {
		said := p.linesBehind(l)
		p.line(render.Span{Role: render.ID, Text: fmt.Sprintf("%s:%d", l.Path, l.Line)}, plain("  "+l.Text))
		if i+1 < len(a) && a[i+1].Line == l.Line+1 && same(l, a[i+1]) {
			continue
		}
		for _, line := range said {
			p.line(line...)
		}
		if i+1 < len(a) {
			p.gap()
		}
	}
}

// same reports whether the same is behind two lines.
func same(a, b why.Line) bool {
	if a.Commit != b.Commit || len(a.Claims) != len(b.Claims) {
		return false
	}
	for i, c := range a.Claims {
		if b.Claims[i].Checkpoint != c.Checkpoint || b.Claims[i].By != c.By {
			return false
		}
	}
	return true
}

// linesBehind returns the lines that say what is behind a line.
func (p *page) linesBehind(l why.Line) (out [][]render.Span) {
	line := func(text string) { out = append(out, []render.Span{plain("  " + text)}) }
	came := ""
	if l.Commit != "" {
		came = fmt.Sprintf("It came in %s %q", p.view.OID(l.Commit), l.Subject)
	}
	if len(l.Claims) == 0 {
		said := "unknown: " + l.Because
		if l.Because == why.NoCheckpoint {
			said = "unknown: this line was not made under checkpoints here"
		}
		if came == "" {
			line(said + ", and it is not committed")
			return out
		}
		line(said)
		for _, s := range l.Says {
			line("says " + s.From + ": " + s.Words())
		}
		return append(out, []render.Span{dim("  " + came)})
	}
	if len(l.Claims) > 1 {
		line("It is one of these; which of them cannot be told:")
	}
	for _, c := range l.Claims {
		line(p.maker(c))
		if c.Prompt != "" {
			line("You asked: " + firstLine(c.Prompt))
		} else if c.Message != "" {
			line(firstLine(c.Message))
		}
	}
	line(cmp.Or(came, "It is not committed yet"))
	for _, c := range l.Claims {
		out = append(out, []render.Span{dim("  git checkpoint show " + name.Quoted(c.Ref))})
	}
	return out
}

// maker names the step, its agent, its time and how much it changed.
func (p *page) maker(c why.Claim) string {
	step := "a checkpoint of " + string(c.Session)
	if c.Step > 0 {
		step = fmt.Sprintf("step %d of %s", c.Step, c.Session)
	}
	parts := []string{step}
	switch c.By {
	case author.Unknown:
		parts[0] += " has it; who made it is unknown"
		parts = append(parts, c.Because)
	case author.Outside:
		parts = append(parts, "changed outside the agents' tools")
	case author.During:
		parts = append(parts, "while a command ran, "+strings.TrimSuffix(c.Agent+", "+c.Model, ", "))
	default:
		parts = append(parts, strings.Trim(c.Agent+", "+c.Model, ", "))
	}
	parts = append(parts, p.view.Time(c.Since.Time), render.Count(int64(c.Files), "file", "files"))
	return strings.Join(parts, " · ")
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// Behind is the answer of why for a commit.
type Behind struct{ why.Commit }

// text writes the steps behind the commit, then the paths of which nothing is known.
func (a Behind) text(p *page) {
	p.line(render.Span{Role: render.ID, Text: p.view.OID(a.Commit.Commit)}, plain("  "+a.Subject))
	columns := []render.Column{{}, {Min: 20}, {}, {Min: 12}}
	row := func(s why.Step) []render.Cell {
		return []render.Cell{cell(render.ID, s.Claim.Ref), say(firstLine(s.Message)), cell(render.Dim, cmp.Or(s.Because, s.Claim.Agent, string(s.Claim.By))), cell(render.Dim, strings.Join(name.All[string](s.Files), ", "))}
	}
	p.section("Steps behind it", columns, gather.List(a.Steps, row))
	p.section("Steps that have lines of it; who made these is unknown", columns, gather.List(a.Held, row))
	p.paths("Unknown", render.Normal, a.Unknown)
	p.section("Renamed only", []render.Column{{Min: 20}}, gather.List(a.Renamed, func(r [2]checkpoint.Path) []render.Cell {
		return []render.Cell{say(string(r[0]) + " → " + string(r[1]))}
	}))
	p.section("Others say, and nothing proves it", []render.Column{{}, {Min: 20}, {Align: render.Right}}, gather.List(a.Says, saying))
	switch {
	case len(a.Steps)+len(a.Held) > 0:
	case len(a.Unknown) > 0:
		p.line(plain("unknown: nothing in it was made under checkpoints here"))
	case len(a.Renamed) == 0:
		p.line(plain("It adds no lines, and nothing is known of what it removes"))
	}
}

// saying is the row of what somebody else says.
func saying(s provenance.Saying) []render.Cell {
	return []render.Cell{cell(render.Dim, "says "+s.From), say(s.Words()), cell(render.Dim, when(s.Lines > 0, render.Count(int64(s.Lines), "line", "lines")))}
}

// Notes is the answer of why --notes.
type Notes struct{ *witness.Answer }

// text says how many notes were written, and why others were not.
func (a Notes) text(p *page) {
	p.done("Wrote "+render.Count(int64(len(a.Written)), "note", "notes")+" to ", a.Ref)
	for _, c := range []struct {
		n    int
		said string
	}{{a.Same, "%s had it already"}, {a.Others, "%s: somebody else's note stays"}, {a.Empty, "%s: nothing is known of who made its lines"}} {
		if c.n > 0 {
			p.line(plain(fmt.Sprintf(c.said, render.Count(int64(c.n), "commit", "commits"))))
		}
	}
	if a.LeftOut > 0 {
		p.line(plain(render.Count(int64(a.LeftOut), "file was", "files were") + " left out: the name of the file must not leave this machine, or the format has no place for it"))
	}
	if len(a.Written) > 0 {
		p.line(render.Span{Role: render.Hint, Text: "Share:"}, plain(" git push origin "+a.Ref))
	}
}

// OthersNotes is the answer of why --notes --verify.
type OthersNotes struct{ *witness.Compared }

// text gives the numbers, then the lines with two names.
func (a OthersNotes) text(p *page) {
	p.line(plain(fmt.Sprintf("%s with somebody else's note in %s: %s the same name, %d another one, %d only here, %d only there",
		render.Count(int64(a.Commits), "commit", "commits"), a.Ref, render.Count(a.Same, "line has", "lines have"), len(a.Differ), a.Here, a.There)))
	for _, d := range a.Differ {
		p.line(render.Span{Role: render.ID, Text: fmt.Sprintf("%s:%d", d.Path, d.Line)}, plain("  here "+d.Here+"; there "+d.There), dim("  in "+p.view.OID(d.Commit)))
	}
	for _, oid := range a.Unread {
		p.line(plain("the note of " + p.view.OID(oid) + " cannot be read"))
	}
}

// Blamed is the answer of blame.
type Blamed struct{ Lines []blame.Line }

// text writes each line of the file after the checkpoint that wrote it, or the commit if it is
// older than any checkpoint.
func (a Blamed) text(p *page) {
	const messageWidth = 32 // how many characters of a message are shown, so that the line of the file still fits next to it
	columns := []render.Column{{}, {Min: 18}, {}, {}, {Align: render.Right}, {Min: 34, Tabs: true}}
	p.table(columns, gather.List(a.Lines, func(l blame.Line) []render.Cell {
		// A line that is older than all checkpoints has only a commit.
		from := cell(render.ID, cmp.Or(when(p.view.Verbose && !strings.Contains(l.Ref, ":"), l.Label), l.Ref))
		if l.Label == "" && l.Commit != "" {
			from = cell(render.Dim, l.Commit.Short())
		}
		return []render.Cell{
			from, cell(render.Dim, name.Clip(cmp.Or(l.Message, l.Because), messageWidth)), cell(render.Dim, madeBy(l)), cell(render.Dim, p.view.Age(l.Time.Time)),
			cell(render.Dim, strconv.Itoa(l.Line)), say(l.Content),
		}
	}))
}

// madeBy says in a word or two who made a line.
func madeBy(l blame.Line) string {
	switch l.By {
	case author.Agent:
		return l.Agent
	case author.During:
		return "during " + l.Agent
	case author.Outside:
		return "outside"
	case author.Unknown:
		return "unknown"
	}
	return ""
}
