package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// members writes the top-level members of a JSON object, one per row. It writes nothing for an
// empty object or another value.
func (p *page) members(title string, document json.RawMessage) {
	var values map[string]json.RawMessage
	if json.Unmarshal(document, &values) != nil {
		return
	}
	p.section(title, []render.Column{{Min: 8}, {Min: 20}}, gather.List(slices.Sorted(maps.Keys(values)), func(key string) []render.Cell {
		return []render.Cell{say(key), say(jsonText(values[key]))}
	}))
}

// jsonText returns a JSON value on one line. Strings keep their quotes, so that "1" and 1 look
// different.
func jsonText(value json.RawMessage) string {
	if len(value) == 0 {
		return "(none)"
	}
	return string(create.Compact(value))
}

// outputs writes the outputs of a checkpoint. For an agent's transcript it shows the command that
// prints it in place of the source.
func (p *page) outputs(d *checkpoint.Detail) {
	outputs := d.Record.Outputs
	agent, _ := d.Record.Agent()
	rows := gather.List(slices.Sorted(maps.Keys(outputs)), func(key string) []render.Cell {
		o := outputs[key]
		// The source of a transcript is a file of the agent that has grown since, so name the
		// command that shows these lines.
		if key == record.TranscriptOutput && agent.Transcript != nil {
			o.Source = record.Path("git checkpoint transcript " + p.short(d.Record.Label))
		}
		return []render.Cell{
			say(key), say(length(o.Lines, o.Entries)),
			say(p.view.Size(o.Size)), cell(render.Dim, string(o.Source)),
		}
	})
	p.section("Outputs", []render.Column{{Min: 8}, {Align: render.Right}, {Align: render.Right}, {Min: 8}}, rows)
}

// captured writes the files that changed, with their lines if they were counted, those that were left out, and
// those at risk.
func (p *page) captured(d *checkpoint.Detail, since *inspect.Since) {
	files, snapshot := d.Record.Files, d.Record.Snapshot
	var rows [][]render.Cell
	for _, changed := range []struct {
		op    string
		paths []record.Path
	}{{"added", files.Created}, {"modified", files.Modified}, {"deleted", files.Deleted}} {
		rows = append(rows, gather.List(changed.paths, func(path record.Path) []render.Cell {
			row := fileRow(changed.op, string(path))
			if since == nil {
				return row
			}
			n, counted := since.Lines[string(path)]
			return append(row, linesOf(n, counted))
		})...)
	}
	rows = oneLineEach(rows, say("M"))
	columns := []render.Column{{}, {Min: 20}}
	if len(rows) > 0 {
		columns = append(columns, make([]render.Column, len(rows[0])-len(columns))...)
	}
	p.section(fmt.Sprintf("Files (%d changed)", files.Total()), columns, rows)
	// Skipped files are not in the checkpoint, so a rollback will leave them as they are.
	p.reasons("Not captured", render.Warning, gather.List(snapshot.Skipped, func(s record.Skipped) [2]string {
		return [2]string{string(s.Path), s.Reason + when(s.Size > 0, ", "+render.Size(s.Size))}
	}))
	// These are in the checkpoint, but a restore may give other bytes.
	p.reasons("At risk", render.Warning, gather.List(snapshot.AtRisk, func(r record.AtRisk) [2]string { return [2]string{string(r.Path), r.Reason} }))
}

// byOthers writes which files of an agent's checkpoint, or of its whole turn, the agent is not known to have made.
func (p *page) byOthers(r *record.Record) {
	a, _ := r.Agent()
	paths, during := a.Made(), []checkpoint.Path{}
	var rows [][2]string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		switch who := paths[path]; who {
		case record.Named:
		case record.During:
			during = append(during, checkpoint.Path(path))
		default:
			rows = append(rows, [2]string{path, who})
		}
	}
	if some := rollback.Some(during); some != "" {
		p.fields(field{"During " + a.Name, say(some[len(" (") : len(some)-len(")")])})
	}
	p.reasons("Not by this agent", render.Normal, rows)
}

// fileRow returns a path with the letter that git uses for the kind of change.
func fileRow(op, path string) []render.Cell {
	letter, role := "M", render.Normal
	switch op {
	case "added":
		letter, role = "A", render.Added
	case "deleted":
		letter, role = "D", render.Removed
	case "type":
		letter = "T"
	}
	return []render.Cell{cell(role, letter), cell(role, path)}
}
