package answer

import (
	"encoding/json"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
)

// Value is a value of a record, in JSON.
type Value json.RawMessage

// text writes a string as its text, which may have several lines, and any other value as JSON on
// one line.
func (a Value) text(p *page) {
	var text string
	// Unmarshal accepts null as a string and leaves it empty.
	if json.Unmarshal(a, &text) != nil || string(a) == "null" {
		text = jsonText(json.RawMessage(a))
	}
	if p.err == nil {
		p.err = p.view.Text(p.w, "", text) // unlike p.text it writes a line for an empty string too
	}
}

func (a Value) shows() any { return (*json.RawMessage)(&a) }

// Settings is the answer of config.
type Settings []checkpoint.Setting

// text writes a table.
func (a Settings) text(p *page) {
	columns := []render.Column{{Title: "Setting"}, {Title: "Value", Min: 12}, {Title: "From"}}
	p.table(columns, gather.List(a, func(s checkpoint.Setting) []render.Cell {
		return []render.Cell{cell(render.ID, s.Key), say(s.Value), cell(render.Dim, s.Origin)}
	}))
}
