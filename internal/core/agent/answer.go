package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Answer is what a hook wants to say. Write prints each part only if the agent accepts it
// for the event.
type Answer struct {
	Context string // for the model
	Block   string // shown to the person in place of the model's answer
	Tell    string // shown to the person beside it
}

// Write returns what the hook prints for an event: JSON with the members that the agent
// knows, or nothing. Unknown members would make some agents reject the whole answer.
func (d *Definition) Write(event string, a Answer) ([]byte, error) {
	out := map[string]any{}
	for _, part := range []struct {
		text string
		of   Template
	}{{a.Context, d.Answers.Context}, {a.Tell, d.Answers.Tell}, {a.Block, d.Answers.Block}} {
		if part.text == "" || !part.of.Fits(event) {
			continue
		}
		filled, err := fill(part.of.JSON, part.text, event)
		if err != nil {
			return nil, err
		}
		merge(out, filled)
	}
	if len(out) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(out)
	return b.Bytes(), err
}

// fill puts the text and the event into a template, where they are whole strings.
func fill(template json.RawMessage, text, event string) (value map[string]any, err error) {
	filled := strings.NewReplacer(`"$text"`, string(quotedID(text)), `"$event"`, string(quotedID(event))).Replace(string(template))
	return value, json.Unmarshal([]byte(filled), &value)
}

// merge adds the members of b to a, recursively for objects, so that several templates can
// contribute to one member.
func merge(a, b map[string]any) {
	for key, value := range b {
		was, both := a[key].(map[string]any)
		inner, is := value.(map[string]any)
		if both && is {
			merge(was, inner)
			continue
		}
		a[key] = value
	}
}
