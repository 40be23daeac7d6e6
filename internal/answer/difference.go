package answer

import (
	"fmt"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// Compared is the answer of diff. Files tells how many file names to show.
type Compared struct {
	Difference *inspect.Difference
	Files      Files
}

// text writes the differences of state, outputs and files, then the checkpoints and commits in
// between.
func (a Compared) text(p *page) {
	p.names = a.Files
	d := a.Difference
	title := append(p.called(checkpoint.Labelled{Label: d.From.Label, Mention: d.Mentioned[0]}), plain(" → "))
	to := render.Cell{plain("the worktree now")}
	if d.To != nil {
		to = p.called(checkpoint.Labelled{Label: d.To.Label, Mention: d.Mentioned[1]})
	}
	p.line(append(title, to...)...)
	if !d.Differs() && len(d.Repositories) == 0 {
		p.line(plain("No differences" + when(len(d.LeftOut) > 0, " in what was captured; not compared: "+p.enumeration(d.LeftOut))))
	}
	p.stateChanges(d.State)
	p.outputChanges(d.Outputs)
	p.files(fmt.Sprintf("Files (%d changed)", len(d.Files)), d.Files, FilesListed)
	p.moved(d.Repositories)
	p.section("Checkpoints between", []render.Column{{}}, gather.List(d.Checkpoints, func(c checkpoint.Labelled) []render.Cell {
		return []render.Cell{p.called(c)}
	}))
	p.section("Commits between", []render.Column{{}, {Min: 20}}, gather.List(d.Commits, func(c inspect.CommitLine) []render.Cell {
		return []render.Cell{cell(render.ID, p.view.OID(c.OID)), brief(c.Subject)}
	}))
}

// moved writes the submodules and nested repositories that changed. What is in them is not part of
// a checkpoint.
func (p *page) moved(repositories []inspect.Moved) {
	p.section("Repositories inside (not captured)", []render.Column{{Min: 20}, {}}, gather.List(repositories, func(m inspect.Moved) []render.Cell {
		what := "files in it changed"
		if m.Head {
			what = "it is at another commit" + when(m.Files, ", and files in it changed")
		}
		return []render.Cell{cell(render.Warning, string(m.Path)), say(what)}
	}))
}

// stateChanges writes the changes of the state. An object that moved from one list to another is a
// removal and an addition in changes; it is shown as one row.
func (p *page) stateChanges(changes []inspect.StateChange) {
	var rows [][]render.Cell
	// moved has the paths from which an object was moved; their removals are not shown again.
	moved := gather.Set(changes, func(c inspect.StateChange) string { return c.MovedFrom })
	for _, c := range changes {
		switch {
		case c.MovedFrom != "":
			rows = append(rows, movedRow(c))
			continue
		case moved[c.Path]:
			continue
		}
		rows = append(rows, []render.Cell{
			say(c.Path + ":"),
			{{Role: render.Removed, Text: jsonText(c.Old)}},
			say("→"),
			{{Role: render.Added, Text: jsonText(c.New)}},
		})
	}
	p.section("State", []render.Column{{Min: 12}, {Min: 12}, {}, {Min: 12}}, rows)
}

// movedRow shows an object that moved from one list to another, as in "k3: pending -> completed".
func movedRow(c inspect.StateChange) []render.Cell {
	from, _ := cutLast(c.MovedFrom, ".#(")
	to, object := cutLast(c.Path, ".#(")
	if _, id, found := strings.Cut(strings.TrimSuffix(object, ")"), "=="); found {
		object = strings.Trim(id, `"`)
	}
	return []render.Cell{
		say(object + ":"), {{Role: render.Removed, Text: from}}, say("→"), {{Role: render.Added, Text: to}},
	}
}

// cutLast cuts text around the last occurrence of at.
func cutLast(text, at string) (before, after string) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(at):]
}

// outputChanges writes the outputs that differ, with their lengths.
func (p *page) outputChanges(changes []record.OutputChange) {
	p.section("Outputs", []render.Column{{Min: 12}, {}, {}}, gather.List(changes, func(c record.OutputChange) []render.Cell {
		before, after := length(c.OldLines, c.OldEntries), length(c.NewLines, c.NewEntries)
		role, length := render.Normal, before+" → "+after
		switch c.Op {
		case "added":
			role, length = render.Added, after
		case "removed":
			role, length = render.Removed, before
		}
		return []render.Cell{cell(role, c.Name), cell(role, string(c.Op)), say(length)}
	}))
}

// length returns the length of an output: entries for a JSON array, else lines.
func length(lines int, entries *int) string {
	if entries != nil {
		return render.Count(*entries, "entry", "entries")
	}
	return render.Count(lines, "line", "lines")
}

// files writes the changed files, at most so many to a person, and for a shortened list the flag that shows all.
func (p *page) files(title string, changes []checkpoint.FileChange, most int) {
	shown, more := cut(p, changes, most)
	p.cutSection(title, []render.Column{{}, {Min: 20}}, oneLineEach(gather.List(shown, func(c checkpoint.FileChange) []render.Cell {
		return fileRow(c.Op, string(c.Path))
	}), say("M")), 0)
	if more > 0 {
		p.line(dim("  … and " + render.Count(more, "more", "more") + " (--files)"))
	}
}
