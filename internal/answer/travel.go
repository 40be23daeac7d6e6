package answer

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/interop"
	"git-checkpoint/internal/verb/transfer"
	"git-checkpoint/internal/verb/travel"
)

// Travelled is the answer of push, fetch and sync.
type Travelled struct {
	Trip   *travel.Answer
	Failed bool  // the command failed, so an empty list does not mean "up to date"
	Refs   Files // whether each ref is listed
}

func (a Travelled) shows() any { return a.Trip.Lines }

// text writes what moved, a line for each session, or that there was nothing to do. A program gets each
// ref before that; a person sees those that did not go well.
func (a Travelled) text(p *page) {
	if len(a.Trip.Lines) == 0 && !a.Failed {
		p.line(plain("Everything is up to date with " + a.Trip.Remote))
		return
	}
	p.names = a.Refs
	listed := a.Trip.Lines
	if !p.whole() {
		listed = slices.DeleteFunc(slices.Clone(listed), func(l travel.Line) bool { return !isRefused(l) })
	}
	a.refs(p, listed)
	for _, moved := range a.moved() {
		p.line(plain(moved))
	}
}

// refs writes a row for each ref. The remote has a column if several are involved.
func (a Travelled) refs(p *page, lines []travel.Line) {
	columns := []render.Column{{}, {Title: ""}, {}, {Min: 12}}
	several := slices.ContainsFunc(a.Trip.Lines, func(l travel.Line) bool { return l.Remote != a.Trip.Lines[0].Remote })
	if several {
		columns = append(columns, render.Column{})
	}
	shown, more := cut(p, lines, 40)
	p.cutSection("", columns, gather.List(shown, func(l travel.Line) []render.Cell {
		role := render.Normal
		if isRefused(l) {
			role = render.Warning
		}
		ref := strings.TrimPrefix(string(l.Ref), "refs/") // git accepts this form too
		row := []render.Cell{cell(render.Dim, arrow(l.Verb)), cell(role, string(l.Outcome)), say(ref), say(l.Message)}
		if several {
			row = append(row, cell(render.Dim, l.Remote))
		}
		return row
	}), more)
}

// freight is what moved of one session in one direction, to or from one remote.
type freight struct{ brought, deleted int }

// moved returns a sentence for each session of which something moved.
func (a Travelled) moved() (said []string) {
	type trip struct {
		verb, remote string
		session      name.Session
	}
	var trips []trip
	of := map[trip]*freight{}
	for _, l := range a.Trip.Lines {
		session, leaf, ok := name.SplitCheckpointRef(l.Ref)
		if !ok || isRefused(l) {
			continue
		}
		key := trip{l.Verb, l.Remote, session}
		if of[key] == nil {
			trips, of[key] = append(trips, key), &freight{}
		}
		switch _, err := name.ParseID(leaf); {
		case err != nil, l.Message == travel.InArchive: // the journal, or what is archived
		case l.Outcome == travel.OutcomeDeleted:
			of[key].deleted++
		default:
			of[key].brought++
		}
	}
	for _, key := range trips {
		did, from := "Pushed ", " to "
		if key.verb != "push" {
			did, from = "Fetched ", " from "
		}
		said = append(said, did+of[key].String()+" of "+string(key.session)+from+key.remote+a.Trip.Address(key.remote))
	}
	return said
}

// String counts the checkpoints. Without any, the journal alone has moved, or refs became an archive.
func (f freight) String() string {
	var parts []string
	if f.brought > 0 {
		parts = append(parts, render.Count(f.brought, "checkpoint", "checkpoints"))
	}
	if f.deleted > 0 {
		parts = append(parts, "the removal of "+render.Count(f.deleted, "checkpoint", "checkpoints"))
	}
	if len(parts) == 0 {
		return "the history"
	}
	return strings.Join(parts, " and ")
}

// isRefused reports whether a ref was rejected or is in conflict.
func isRefused(l travel.Line) bool {
	return l.Outcome == travel.OutcomeRejected || l.Outcome == travel.OutcomeConflict
}

// Refused returns a line for each ref that was rejected or in conflict, with the reason.
func (a Travelled) Refused() []string {
	var all []string
	for _, l := range a.Trip.Lines {
		if isRefused(l) {
			all = append(all, fmt.Sprintf("%s: %s: %s", l.Ref, l.Outcome, l.Message))
		}
	}
	return all
}

// arrow returns the direction of the transfer.
func arrow(verb string) string {
	if verb == "push" {
		return "→"
	}
	return "←"
}

// RemoteSessions is the answer of remote status.
type RemoteSessions []travel.RemoteSession

// text writes a table.
func (a RemoteSessions) text(p *page) {
	columns := []render.Column{{Title: "Session"}, {Title: "State"}, {Title: "To push"}, {Title: "To fetch"}, {Title: "Conflicts"}, {Title: "Last sync"}}
	p.table(columns, gather.List(a, func(s travel.RemoteSession) []render.Cell {
		return []render.Cell{
			cell(render.ID, string(s.Session)), say(s.State), say(fmt.Sprint(s.ToPush)),
			say(fmt.Sprint(s.ToFetch)), say(fmt.Sprint(len(s.Conflicts))), say(timeOf(s.LastSync, p.view)),
		}
	}))
}

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
