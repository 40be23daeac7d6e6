package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Facts are what a document or a state says of itself. Raw members are nil when
// the document does not have them or says null.
type Facts struct {
	// ID is the document's own identity, Topic its description.
	ID, Topic string
	// Type is what kind of work it is, as `--type` asks for it.
	Type string
	// Step is the number of the phase that the document names; nil: none.
	Step *int
	// StepName is its name, as the workflow or the document has it.
	StepName string
	// Iteration is the number of rounds that the document counts, "" for none.
	Iteration string
	// Status and Trigger are "" when the document says none.
	Status, Trigger string
	// Time is zero when the document says none.
	Time time.Time
	// Error, Metrics, Decisions as they stand in the document.
	Error, Metrics, Decisions json.RawMessage
	// Outputs by name; null is a name without content.
	Outputs map[string]json.RawMessage
}

// Accepted is a document taken apart.
type Accepted struct {
	Facts
	// State is byte for byte the part of the document that is the state, with the
	// record's metrics put where the workflow keeps them.
	State json.RawMessage
	// Record is the record around the state, nil when the document is the state.
	Record json.RawMessage
}

// StateError refuses a document that is no state, whatever the workflow.
type StateError struct{ Problem string }

// Error says what is wrong with the document.
func (e *StateError) Error() string { return "state is " + e.Problem }

// Accept takes a document as the workflow writes it: a whole record, its state
// member, or the bare state. It refuses what is no JSON object, too deep or large,
// or has a member twice; whether the state is allowed is Check's question.
func (d *Definition) Accept(document json.RawMessage) (Accepted, error) {
	if err := checkDocument(document); err != nil {
		return Accepted{}, err
	}
	root := gjson.ParseBytes(document)
	for _, form := range d.Document.Forms {
		record := root
		if form.Record != "" {
			record = root.Get(form.Record)
		}
		state := record.Get(form.State)
		if !record.IsObject() || !state.IsObject() || !hasOne(record, form.With) {
			continue
		}
		return d.acceptRecord(json.RawMessage(record.Raw), json.RawMessage(state.Raw))
	}
	return Accepted{State: bytes.TrimSpace(document), Facts: d.facts(root, d.State.Members, Facts{})}, nil
}

// Read takes a state for itself, as after it was edited.
func (d *Definition) Read(state json.RawMessage) (Facts, error) {
	if err := checkDocument(state); err != nil {
		return Facts{}, err
	}
	return d.facts(gjson.ParseBytes(state), d.State.Members, Facts{}), nil
}

func (d *Definition) acceptRecord(record, state json.RawMessage) (Accepted, error) {
	facts := d.facts(gjson.ParseBytes(record), d.Document.Record, Facts{})
	facts = d.facts(gjson.ParseBytes(state), d.State.Members, facts)
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

func checkDocument(document json.RawMessage) error {
	value, err := decode(document, maxDocumentSize)
	if err != nil {
		var where *offsetError
		if errors.As(err, &where) {
			return &StateError{fmt.Sprintf("%v (line %d)", err, line(document, int(where.offset)))}
		}
		return &StateError{err.Error()}
	}
	if _, ok := value.(map[string]any); !ok {
		return &StateError{kind(value) + ", not an object"}
	}
	return nil
}

func hasOne(record gjson.Result, members []string) bool {
	for _, member := range members {
		if record.Get(member).Exists() {
			return true
		}
	}
	return len(members) == 0
}

// facts fills what is not known yet from the members of one place.
func (d *Definition) facts(at gjson.Result, m Members, f Facts) Facts {
	fillText(&f.ID, at, m.ID)
	fillText(&f.Topic, at, m.Topic)
	fillText(&f.Type, at, m.Type)
	fillText(&f.Status, at, m.Status)
	fillText(&f.Trigger, at, m.Trigger)
	fillRaw(&f.Error, at, m.Error)
	fillRaw(&f.Metrics, at, m.Metrics)
	fillRaw(&f.Decisions, at, m.Decisions)
	if f.Iteration == "" {
		if n := whole(get(at, m.Iteration)); n != nil && *n > 0 {
			f.Iteration = strconv.Itoa(*n)
		}
	}
	if t, ok := parseTime(get(at, m.Time).String()); ok && f.Time.IsZero() {
		f.Time = t.UTC()
	}
	if outputs := get(at, m.Outputs); outputs.IsObject() && f.Outputs == nil {
		f.Outputs = map[string]json.RawMessage{}
		outputs.ForEach(func(key, value gjson.Result) bool {
			f.Outputs[key.String()] = json.RawMessage(value.Raw)
			return true
		})
	}
	if f.Step == nil {
		d.phase(&f, get(at, m.Step), get(at, m.StepName))
	}
	return f
}

// phase reads a step that a document gives as a number, a name, or both.
func (d *Definition) phase(f *Facts, step, stepName gjson.Result) {
	if n := whole(step); n != nil && *n >= 0 && *n <= maxStepNumber {
		f.Step = n
	} else if n, err := strconv.Atoi(step.String()); err == nil && step.Type == gjson.String && n >= 0 && n <= maxStepNumber {
		f.Step = &n
	} else if n, ok := d.numberOf(step.String()); ok && step.Type == gjson.String {
		f.Step = &n
	} else if n, ok := d.numberOf(stepName.String()); ok && stepName.Type == gjson.String {
		f.Step = &n
	}
	switch {
	case f.StepName != "":
	case f.Step != nil && d.nameOf(*f.Step) != "":
		f.StepName = d.nameOf(*f.Step)
	case stepName.Type == gjson.String:
		f.StepName = stepName.String()
	}
}

func get(at gjson.Result, path string) gjson.Result {
	if path == "" {
		return gjson.Result{}
	}
	return at.Get(path)
}

func fillText(s *string, at gjson.Result, path string) {
	if v := get(at, path); *s == "" && (v.Type == gjson.String || v.Type == gjson.Number) {
		*s = v.String()
	}
}

func fillRaw(raw *json.RawMessage, at gjson.Result, path string) {
	if v := get(at, path); *raw == nil && v.Exists() && v.Type != gjson.Null {
		*raw = json.RawMessage(v.Raw)
	}
}

// whole reads an integer by its digits; 3.0 is 3, 2^53+1 is exact.
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

// Identity gives the members by which the objects of a list are matched when two
// states are compared; what has none of them is matched by value.
func (d *Definition) Identity(list string) []string {
	if members, ok := d.Diff.Identity[list]; ok {
		return members
	}
	return []string{"id"}
}
