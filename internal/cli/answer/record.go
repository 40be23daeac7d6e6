package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/render"
)

// members lists the top level of a JSON object, each value on one line; what is no
// object or has no members is left out.
func (p *page) members(title string, document json.RawMessage) {
	var values map[string]json.RawMessage
	if json.Unmarshal(document, &values) != nil {
		return
	}
	var rows [][]render.Cell
	for _, key := range slices.Sorted(maps.Keys(values)) {
		rows = append(rows, []render.Cell{cell(render.Normal, key), cell(render.Normal, jsonText(values[key]))})
	}
	p.section(title, []render.Column{{Min: 8}, {Min: 20}}, rows)
}

// jsonText is a JSON value on one line. Its strings are shown as JSON has them, so
// that "1" and 1 look different.
func jsonText(value json.RawMessage) string {
	if len(value) == 0 {
		return "(none)"
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

func (p *page) outputs(d *checkpoint.Detail) {
	outputs := d.Record.Outputs
	agent, _ := d.Record.Agent()
	var rows [][]render.Cell
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		o := outputs[key]
		if key == record.TranscriptOutput && agent.Transcript != nil {
			o.Source = record.Path("git checkpoint transcript " + d.Record.Label)
		}
		rows = append(rows, []render.Cell{
			cell(render.Normal, key), cell(render.Normal, length(o.Lines, o.Entries)),
			cell(render.Normal, p.view.Size(o.Size)), cell(render.Dim, string(o.Source)),
		})
	}
	p.section("Outputs", []render.Column{{Min: 8}, {Align: render.Right}, {Align: render.Right}, {Min: 8}}, rows)
}

// captured lists the files that changed, what a rule left out and what is at risk.
func (p *page) captured(d *checkpoint.Detail) {
	files, snapshot := d.Record.Files, d.Record.Snapshot
	var rows [][]render.Cell
	for _, path := range files.Created {
		rows = append(rows, fileRow("added", string(path)))
	}
	for _, path := range files.Modified {
		rows = append(rows, fileRow("modified", string(path)))
	}
	for _, path := range files.Deleted {
		rows = append(rows, fileRow("deleted", string(path)))
	}
	p.section(fmt.Sprintf("Files (%d changed)", files.Total()), []render.Column{{}, {Min: 20}}, rows)
	rows = nil
	for _, s := range snapshot.Skipped {
		reason := s.Reason
		if s.Size > 0 {
			reason += ", " + render.Size(s.Size)
		}
		rows = append(rows, []render.Cell{cell(render.Warning, string(s.Path)), cell(render.Normal, reason)})
	}
	p.section("Not captured", []render.Column{{Min: 20}, {Min: 20}}, rows)
	rows = nil
	for _, r := range snapshot.AtRisk {
		rows = append(rows, []render.Cell{cell(render.Warning, string(r.Path)), cell(render.Normal, r.Reason)})
	}
	p.section("At risk", []render.Column{{Min: 20}, {Min: 20}}, rows)
}

// fileRow is a path with the letter that git gives to what happened to it.
func fileRow(op, path string) []render.Cell {
	letter, role := "M", render.Normal
	switch op {
	case "added":
		letter, role = "A", render.Added
	case "deleted":
		letter, role = "D", render.Removed
	case "renamed":
		letter = "R"
	case "type":
		letter = "T"
	}
	return []render.Cell{cell(role, letter), cell(role, path)}
}
