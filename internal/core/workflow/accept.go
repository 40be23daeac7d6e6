package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Facts are the parts of a document or a state that this program understands. A raw member is nil
// if the document does not have it or has null there.
type Facts struct {
	ID, Topic string // ID is the document's own identifier, Topic its description
	Type      string // the kind of work, in the sense of `--type`
	Step      *int   // the number of the step that the document names, or nil
	StepName  string // the name of the step: the workflow's, if it has one, else the document's
	Iteration string // the document's own count of rounds of the step, "" if it has none
	// Status and Trigger are "" if the document has none.
	Status, Trigger string
	Branch, Commit  string    // Branch is the branch that the document names for the job, and Commit the commit on it
	Time, Created   time.Time // Time and Created, when the job began, are zero if the document has none, else in UTC
	// Error, Metrics and Decisions have the text from the document, unchanged.
	Error, Metrics, Decisions json.RawMessage
	Outputs                   map[string]json.RawMessage // keyed by name. A null is an output that has a name but no content
}

// Accepted is a document that was taken apart.
type Accepted struct {
	Facts
	// State is the part of the document that is the state, byte for byte. The only change is that a
	// record's metrics are copied to where the workflow keeps them in the state.
	State  json.RawMessage
	Record json.RawMessage // the object around the state, nil if the whole document is the state
}

// StateError rejects a document that cannot be a state in any workflow.
type StateError struct{ Problem string }

// Error describes the problem with the document.
func (e *StateError) Error() string { return "state is " + e.Problem }

// Accept takes a document apart. The document may be a whole record with the state inside, or the
// bare state. Accept returns a *StateError for a document that is not a JSON object, is too deep or
// too large, or has a duplicate member. It does not judge the state: Check does.
func (d *Definition) Accept(document json.RawMessage) (Accepted, error) {
	if err := checkDocument(document); err != nil {
		return Accepted{}, err
	}
	if form, record, ok := d.formOf(document); ok {
		state := record.Get(form.State)
		if state.Type == gjson.Null && form.Record != "" {
			state = gjson.Parse("{}")
		}
		if !state.IsObject() {
			return Accepted{}, &StateError{kind(state.Value()) + ", not an object"}
		}
		return d.acceptRecord(json.RawMessage(record.Raw), json.RawMessage(state.Raw))
	}
	return Accepted{State: bytes.TrimSpace(document), Facts: d.Steps.facts(gjson.ParseBytes(document), d.State.Members, Facts{})}, nil
}

// formOf returns the first form that a document has, and the record in it; ok is false if the whole document is the
// state. One that the workflow knows as its own has a form even if its state is missing or no object.
func (d *Definition) formOf(document json.RawMessage) (form Form, record gjson.Result, ok bool) {
	root := gjson.ParseBytes(document)
	for _, known := range []bool{false, d.Knows(document)} {
		for _, form := range d.Document.Forms {
			if record = root; form.Record != "" {
				record = root.Get(form.Record)
			}
			state := record.Get(form.State)
			if record.IsObject() && hasOne(record, form.With) && (state.IsObject() || known && (form.Record != "" || state.Exists())) {
				return form, record, true
			}
		}
	}
	return Form{}, root, false
}

// Read returns the facts of a bare state, for example after it was edited.
func (d *Definition) Read(state json.RawMessage) (Facts, error) {
	if err := checkDocument(state); err != nil {
		return Facts{}, err
	}
	return d.Steps.facts(gjson.ParseBytes(state), d.State.Members, Facts{}), nil
}

// acceptRecord collects the facts of a record and of the state in it; the record takes precedence
// where both have one. It copies the record's metrics into the state unless the state has some.
func (d *Definition) acceptRecord(record, state json.RawMessage) (Accepted, error) {
	facts := d.Steps.facts(gjson.ParseBytes(record), d.Document.Record, Facts{})
	facts = d.Steps.facts(gjson.ParseBytes(state), d.State.Members, facts)
	a := Accepted{State: state, Record: record, Facts: facts}
	path := d.State.Members.Metrics
	if path == "" || facts.Metrics == nil || gjson.GetBytes(state, path).Exists() {
		return a, nil
	}
	moved, err := sjson.SetRawBytes(append([]byte{}, state...), path, facts.Metrics)
	if err != nil {
		return Accepted{}, fmt.Errorf("put metrics at %q: %w", path, err)
	}
	a.State = moved
	return a, nil
}

// checkDocument returns a *StateError, with the line if it is known, unless document is a JSON
// object within the limits.
func checkDocument(document json.RawMessage) error {
	value, err := decode(document, maxDocumentSize)
	if err != nil {
		if where, is := errors.AsType[*offsetError](err); is {
			return &StateError{fmt.Sprintf("%v (line %d)", err, line(document, int(where.offset)))}
		}
		return &StateError{err.Error()}
	}
	if _, ok := value.(map[string]any); !ok {
		return &StateError{kind(value) + ", not an object"}
	}
	return nil
}

// hasOne reports whether one of the members exists. It is true for an empty list.
func hasOne(record gjson.Result, members []string) bool {
	return len(members) == 0 || slices.ContainsFunc(members, func(m string) bool { return record.Get(m).Exists() })
}

// facts returns f with every fact that it lacks taken from at, where m has the paths. What f
// already has is not overwritten.
func (s Steps) facts(at gjson.Result, m Members, f Facts) Facts {
	fillText(&f.ID, at, m.ID)
	fillText(&f.Topic, at, m.Topic)
	fillText(&f.Type, at, m.Type)
	fillText(&f.Status, at, m.Status)
	fillText(&f.Trigger, at, m.Trigger)
	fillText(&f.Branch, at, m.Branch)
	fillText(&f.Commit, at, m.Commit)
	fillRaw(&f.Error, at, m.Error)
	fillRaw(&f.Metrics, at, m.Metrics)
	fillRaw(&f.Decisions, at, m.Decisions)
	if f.Iteration == "" {
		if n := whole(get(at, m.Iteration)); n != nil && *n > 0 {
			f.Iteration = strconv.Itoa(*n)
		}
	}
	fillTime(&f.Time, at, m.Time)
	fillTime(&f.Created, at, m.Created)
	if outputs := get(at, m.Outputs); outputs.IsObject() && f.Outputs == nil {
		f.Outputs = map[string]json.RawMessage{}
		outputs.ForEach(func(key, value gjson.Result) bool {
			f.Outputs[key.String()] = json.RawMessage(value.Raw)
			return true
		})
	}
	if f.Step == nil {
		s.phase(&f, get(at, m.Step), get(at, m.StepName))
	}
	return f
}

// phase sets the step from what a document has. The order of precedence is: a number, a number in a
// string, a step's name in the member for the number, and a step's name in the member for the name.
func (s Steps) phase(f *Facts, step, stepName gjson.Result) {
	if n := whole(step); n != nil && *n >= 0 && *n <= maxStepNumber {
		f.Step = n
	} else if n, err := strconv.Atoi(step.String()); err == nil && step.Type == gjson.String && n >= 0 && n <= maxStepNumber {
		f.Step = &n
	} else if n, ok := s.numberOf(step.String()); ok && step.Type == gjson.String {
		f.Step = &n
	} else if n, ok := s.numberOf(stepName.String()); ok && stepName.Type == gjson.String {
		f.Step = &n
	}
	switch {
	case f.StepName != "":
	case f.Step != nil && s.nameOf(*f.Step) != "":
		f.StepName = s.nameOf(*f.Step)
	case stepName.Type == gjson.String:
		f.StepName = stepName.String()
	}
}

// get returns the value at path. An empty path stands for a part that the workflow does not have,
// so it has no value.
func get(at gjson.Result, path string) gjson.Result {
	if path == "" {
		return gjson.Result{}
	}
	return at.Get(path)
}

// fillText sets *s from a string or number, unless it is set already.
func fillText(s *string, at gjson.Result, path string) {
	if v := get(at, path); *s == "" && (v.Type == gjson.String || v.Type == gjson.Number) {
		*s = v.String()
	}
}

// fillTime sets *t from a string, unless it is set already.
func fillTime(t *time.Time, at gjson.Result, path string) {
	if said, ok := ParseTime(get(at, path).String()); ok && t.IsZero() {
		*t = said.UTC()
	}
}

// fillRaw sets *raw to the text of a member that is not null, unless it is set already.
func fillRaw(raw *json.RawMessage, at gjson.Result, path string) {
	if *raw == nil {
		*raw = rawOf(get(at, path))
	}
}

// whole reads an integer, nil if v is not one. Reading the digits keeps 2^53+1 exact; the second
// attempt accepts small integers that are written as 3.0 or 3e0.
func whole(v gjson.Result) *int {
	if v.Type != gjson.Number {
		return nil
	}
	if n, err := strconv.Atoi(v.Raw); err == nil {
		return &n
	}
	if n := int(v.Num); float64(n) == v.Num && n > -maxStepNumber && n < maxStepNumber {
		return &n
	}
	return nil
}

// Identity returns the members that identify the objects of a list when two states are compared.
// Objects that have none of them are compared by value.
func (d *Definition) Identity(list string) []string {
	if members, ok := d.Diff.Identity[list]; ok {
		return members
	}
	return []string{"id"}
}
