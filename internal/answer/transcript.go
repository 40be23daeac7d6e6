package answer

import (
	"bytes"
	"encoding/json"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/inspect"
)

// Talks is the answer of transcript: for each turn, lines of the agent's own transcript.
type Talks []inspect.TranscriptPart

// talk is a turn in the JSON form.
type talk struct {
	Label      string          `json:"label"`
	Checkpoint name.ID         `json:"id"`
	Time       checkpoint.Time `json:"created_at"`
	Agent      record.Agent    `json:"agent"`
	Lines      []any           `json:"lines"`
}

// shows has an object for each turn. A line that is JSON itself is embedded as it is, any other
// as a string.
func (a Talks) shows() any {
	var all []talk
	for _, t := range a {
		lines := make([]any, len(t.Lines))
		for i, line := range t.Lines {
			// Without its newline, a line of a JSONL transcript is a JSON value.
			line = bytes.TrimRight(line, "\r\n")
			if lines[i] = json.RawMessage(line); !json.Valid(line) {
				lines[i] = string(line)
			}
		}
		all = append(all, talk{t.Label, t.Checkpoint, t.Time, t.Agent, lines})
	}
	return all
}

// text writes the lines as the agent wrote them. It escapes them for a terminal only, so that in a
// pipe they keep every byte.
func (a Talks) text(p *page) {
	for _, t := range a {
		for _, line := range t.Lines {
			if p.view.Layout == render.Aligned {
				line = []byte(render.EscapeLines(string(line)))
			}
			if p.err == nil {
				_, p.err = p.w.Write(line)
			}
		}
	}
}
