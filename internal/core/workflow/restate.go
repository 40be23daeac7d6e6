package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Restate is the inverse of Accept: it returns the document with another state in it. outputs has
// for each output to change a function that gets the old value and returns the new one, or false to
// leave it. Every other byte of the document stays.
func (d *Definition) Restate(document, state json.RawMessage, outputs map[string]func(was gjson.Result) (json.RawMessage, bool)) (json.RawMessage, error) {
	form, _, ok := d.formOf(document)
	if !ok { // the whole document is the state
		old := bytes.TrimSpace(document)
		return bytes.Replace(document, old, respell(old, state), 1), nil
	}
	var err error
	at := join(form.Record, form.State)
	metrics := d.State.Members.Metrics
	if beside := d.Document.Record.Metrics; beside != "" && metrics != "" && !gjson.GetBytes(document, at+"."+metrics).Exists() {
		// Accept copied the metrics from beside the state.
		now := gjson.GetBytes(state, metrics)
		if state, err = sjson.DeleteBytes(slices.Clone(state), metrics); err != nil {
			return nil, fmt.Errorf("take metrics from %q: %w", metrics, err)
		}
		if document, err = replace(document, join(form.Record, beside), now.Raw); err != nil {
			return nil, err
		}
	}
	if document, err = replace(document, at, string(state)); err != nil {
		return nil, err
	}
	in := d.Document.Record.Outputs
	if in == "" {
		return document, nil
	}
	for _, name := range sortedKeys(outputs) {
		p := join(join(form.Record, in), gjson.Escape(name))
		if now, ok := outputs[name](gjson.GetBytes(document, p)); ok {
			if document, err = replace(document, p, string(now)); err != nil {
				return nil, err
			}
		}
	}
	return document, nil
}

// replace sets the value at a path and keeps the spelling of everything that does not change. An
// empty value removes the member.
func replace(document json.RawMessage, path, raw string) (json.RawMessage, error) {
	was := gjson.GetBytes(document, path)
	var err error
	switch {
	case raw == "":
		document, err = sjson.DeleteBytes(slices.Clone(document), path)
	default:
		document, err = sjson.SetRawBytes(slices.Clone(document), path, respell([]byte(was.Raw), []byte(raw)))
	}
	if err != nil {
		return nil, fmt.Errorf("put %q into the document: %w", path, err)
	}
	return document, nil
}

// respell returns the value now. Members that it has in common with was are spelled as they are
// there: white space, order, numbers.
func respell(was, now []byte) []byte {
	old, value := gjson.ParseBytes(was), gjson.ParseBytes(now)
	if sameSpelling(was, now) {
		return was
	}
	if !old.IsObject() || !value.IsObject() {
		return now
	}
	values := map[string]string{}
	value.ForEach(func(key, v gjson.Result) bool {
		values[key.Str] = v.Raw
		return true
	})
	var out bytes.Buffer
	at, indent, colon := 0, "", ": "
	add := func(lead, member string) {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.WriteString(lead + member)
	}
	old.ForEach(func(key, v gjson.Result) bool {
		// at is where the text before this member begins: after the brace, or after the value before.
		begins := at + bytes.Index(was[at:], []byte(key.Raw))
		value := begins + len(key.Raw) + bytes.Index(was[begins+len(key.Raw):], []byte(v.Raw))
		lead := string(was[at:begins])
		lead = lead[strings.IndexAny(lead, "{,")+1:]
		indent, colon = lead, string(was[begins+len(key.Raw):value])
		at = value + len(v.Raw)
		if now, stays := values[key.Str]; stays {
			add(lead, key.Raw+colon+string(respell([]byte(v.Raw), []byte(now))))
			delete(values, key.Str)
		}
		return true
	})
	if at == 0 { // an empty object has no spelling
		return now
	}
	value.ForEach(func(key, v gjson.Result) bool {
		if _, left := values[key.Str]; left {
			add(indent, key.Raw+colon+v.Raw)
		}
		return true
	})
	return append(append([]byte("{"), out.Bytes()...), was[at:]...)
}

// sameSpelling reports whether two values differ in white space at most.
func sameSpelling(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// MembersBeside returns the members that a document has besides its state, without its id, its time, and
// what Accept takes out of it. It is nil if the whole document is the state.
func (d *Definition) MembersBeside(document json.RawMessage) map[string]json.RawMessage {
	form, _, ok := d.formOf(document)
	a, err := d.Accept(document)
	if !ok || err != nil {
		return nil
	}
	in, id, out := d.Document.Record, d.CheckpointOf(a), map[string]json.RawMessage{}
	gjson.ParseBytes(a.Record).ForEach(func(key, value gjson.Result) bool {
		known := slices.Contains([]string{form.State, in.ID, in.Time, in.Metrics, in.Outputs}, key.Str)
		if !known && (id == "" || value.Str != id) {
			out[key.Str] = json.RawMessage(value.Raw)
		}
		return true
	})
	return out
}
