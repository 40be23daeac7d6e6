package why

import (
	"bytes"
	"encoding/json"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/format/render"
)

// claimJSON is a claim as JSON has it: what is not known is null.
type claimJSON struct {
	By         author.By        `json:"by"`
	Session    *name.Session    `json:"session"`
	Step       *int             `json:"step"`
	Checkpoint *name.ID         `json:"checkpoint"`
	Agent      *string          `json:"agent"`
	Model      *string          `json:"model"`
	Prompt     *string          `json:"prompt"`
	Since      *checkpoint.Time `json:"since"`
	Because    *string          `json:"because"`
}

// known returns a pointer to a value, or nil for the zero value.
func known[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func jsonOf(c Claim) claimJSON {
	out := claimJSON{
		By: c.By, Session: known(c.Session), Step: known(c.Step), Checkpoint: known(c.Checkpoint),
		Agent: known(c.Agent), Model: known(c.Model), Prompt: known(c.Prompt), Because: known(c.Because),
	}
	if !c.Since.IsZero() {
		out.Since = &c.Since
	}
	return out
}

// MarshalJSON writes the members that docs/json.md describes.
func (l Line) MarshalJSON() ([]byte, error) {
	out := struct {
		Path   checkpoint.Path `json:"path"`
		Line   int             `json:"line"`
		Text   string          `json:"text"`
		Commit *name.OID       `json:"commit"`
		claimJSON
		Claims []claimJSON         `json:"claims,omitempty"`
		Says   []provenance.Saying `json:"says,omitempty"`
	}{checkpoint.Path(l.Path), l.Line, l.Text, known(l.Commit), jsonOf(l.Claim()), nil, l.Says}
	if len(l.Claims) > 1 {
		for _, c := range l.Claims {
			out.Claims = append(out.Claims, jsonOf(c))
		}
	}
	var b bytes.Buffer
	if err := render.JSON(&b, out); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSpace(b.Bytes())), nil
}
