package workflow

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Derive computes the members of the new state that nobody gave and returns the
// state with them. Given is the state of a document handed in with this checkpoint,
// nil when the state is carried on; a member counts as given when it stands there,
// or when an edit made it differ from the old state. Everything else of the state
// keeps its bytes.
func (d *Definition) Derive(c Change, given json.RawMessage) (json.RawMessage, error) {
	state := c.New
	if len(d.Derivations) == 0 {
		return state, nil
	}
	if len(state) == 0 {
		state = json.RawMessage("{}")
	}
	c.Handed = len(given) > 0
	m := newMeter(c.Old, state)
	for _, rule := range d.Derivations {
		if isGiven(rule.Path, c, given) {
			continue
		}
		v, broken := newVariables(Change{Old: c.Old, New: state})
		if broken != nil {
			return nil, &StateError{broken[0].Message}
		}
		vars := d.ruleVariables(m, v, c)
		applies, err := d.holds(m, d.ruleScope(), rule.When, vars)
		if err != nil || !applies {
			continue
		}
		value, err := d.evaluate(m, d.ruleScope(), rule.Value, vars)
		if err != nil {
			continue
		}
		if state, err = put(state, rule.Path, value); err != nil {
			return nil, fmt.Errorf("put derived %q: %w", rule.Path, err)
		}
	}
	return state, nil
}

// Underived is a state without the members that Derive computes where given does not
// have them.
func (d *Definition) Underived(state, given json.RawMessage) json.RawMessage {
	for _, rule := range d.Derivations {
		if gjson.GetBytes(given, rule.Path).Exists() || !gjson.GetBytes(state, rule.Path).Exists() {
			continue
		}
		if less, err := sjson.DeleteBytes(append([]byte{}, state...), rule.Path); err == nil {
			state = less
		}
	}
	return state
}

// isGiven reports whether somebody said what stands at path.
func isGiven(path string, c Change, given json.RawMessage) bool {
	if len(given) > 0 && gjson.GetBytes(given, path).Exists() {
		return true
	}
	now := gjson.GetBytes(c.New, path)
	return now.Exists() && now.Raw != gjson.GetBytes(c.Old, path).Raw
}

func put(state json.RawMessage, path string, value any) (json.RawMessage, error) {
	if value == nil {
		if !gjson.GetBytes(state, path).Exists() {
			return state, nil
		}
		return sjson.DeleteBytes(append([]byte{}, state...), path)
	}
	return sjson.SetRawBytes(append([]byte{}, state...), path, encode(value))
}
