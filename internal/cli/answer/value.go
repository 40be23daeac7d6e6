package answer

import (
	"encoding/json"
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
)

// Plan is an answer about something that would be done.
type Plan interface {
	Answer
	// Unconfirmed is the plan of what was not done, because nobody said yes.
	Unconfirmed() Answer
}

// Unconfirmed marks the plan as one that was not carried out.
func (a Planned) Unconfirmed() Answer {
	r := *a.Plan
	r.DryRun = true
	return Planned{&r, a.Files}
}

// Unconfirmed is the same list.
func (a RefsToDelete) Unconfirmed() Answer { return a }

// Unconfirmed is the same list.
func (a ToDelete) Unconfirmed() Answer { return a }

// Value is one value of a record, as JSON.
type Value json.RawMessage

// Text writes a string as its text, of several lines if it has them, and anything else
// as JSON on one line.
func (a Value) Text(w io.Writer, v render.View) error {
	var text string
	if json.Unmarshal(a, &text) != nil || string(a) == "null" {
		text = jsonText(json.RawMessage(a))
	}
	return v.Text(w, "", text)
}

// JSON writes the value as JSON.
func (a Value) JSON(w io.Writer) error { return render.JSON(w, json.RawMessage(a)) }

// Settings is what config answers.
type Settings []checkpoint.Setting

// JSON writes a line for each setting.
func (a Settings) JSON(w io.Writer) error {
	for _, s := range a {
		if err := render.JSON(w, s); err != nil {
			return err
		}
	}
	return nil
}

// Text writes a table.
func (a Settings) Text(w io.Writer, v render.View) error {
	t := render.Table{Columns: []render.Column{{Title: "Setting"}, {Title: "Value", Min: 12}, {Title: "From"}}}
	for _, s := range a {
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.ID, s.Key), cell(render.Normal, s.Value), cell(render.Dim, s.Origin),
		})
	}
	return v.Table(w, t)
}

// Tamed is a JSON text as it was written, with what a terminal would obey escaped, as
// JSON allows inside of its strings.
func Tamed(text []byte) []byte { return render.TameJSON(text) }
