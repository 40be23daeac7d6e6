package answer

import (
	"strings"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/transfer"
)

// Exported is the answer of export.
type Exported struct{ Done *transfer.Exported }

// text confirms the file and counts its contents.
func (a Exported) text(p *page) {
	p.done("Exported: "+a.Done.File, "")
	p.line(plain(render.Count(len(a.Done.Sessions), "session", "sessions") + ", " + render.Count(a.Done.Checkpoints, "checkpoint", "checkpoints") +
		" | " + a.Done.Format + ", " + p.view.Size(a.Done.Bytes)))
}

// ImportedLayout is the answer of import for the files of another tool (a layout, see package
// interop).
type ImportedLayout struct{ Done *interop.ImportAnswer }

// text counts the documents that were imported. For a dry run it also lists them.
func (a ImportedLayout) text(p *page) {
	d := a.Done
	told := strings.Join([]string{
		render.Count(d.Added, "checkpoint", "checkpoints") + " new", render.Count(d.Changed, "document", "documents") + " changed",
		render.Count(d.Unchanged, "document was", "documents were") + " already here",
	}, ", ")
	if d.DryRun {
		p.line(plain("Would import from " + d.Format + ": " + told))
		p.documents(d.Documents)
	} else {
		p.done("Imported from "+d.Format+": "+told, "")
		if len(d.Sessions) > 0 {
			p.line(plain("Sessions: " + strings.Join(d.Sessions, ", ")))
		}
	}
	// An import changes no configuration; it shows the commands that would.
	if len(d.Settings) > 0 {
		p.line(plain("Its configuration was not taken over; `git checkpoint init --from` does that:"))
	}
	for _, s := range d.Settings {
		p.line(dim("git config " + s.Key + " " + s.Value))
	}
}

// documents lists the documents of a dry run: what happens to each, and the commit that has its
// files.
func (p *page) documents(list []transfer.Imported) {
	rows := gather.List(list, func(d transfer.Imported) []render.Cell {
		files := "without files"
		if d.Commit != "" {
			files = "files of " + d.Commit.Short()
		}
		return []render.Cell{
			say(d.Action), cell(render.ID, p.short(d.Label)), cell(render.Dim, string(d.Session)), say(files), cell(render.Dim, d.Path),
		}
	})
	p.section("", []render.Column{{}, {Min: 12}, {}, {}, {Min: 20}}, rows)
}

// ExportedLayout is the answer of export in the layout of another tool.
type ExportedLayout struct{ Done *interop.ExportAnswer }

// text confirms the export and lists what that layout cannot represent.
func (a ExportedLayout) text(p *page) {
	d := a.Done
	p.done("Exported: "+d.To, "")
	p.line(plain(render.Count(len(d.Sessions), "session", "sessions") + ", " + render.Count(d.Checkpoints, "checkpoint", "checkpoints") +
		" | " + d.Format + ", " + render.Count(len(d.Files), "file", "files")))
	p.section("What the layout cannot hold", []render.Column{{}, {Min: 12}, {Min: 20}}, gather.List(d.LeftOut, func(l interop.LeftOut) []render.Cell {
		return []render.Cell{cell(render.Dim, l.Session), cell(render.ID, l.Checkpoint), say(l.What)}
	}))
}
