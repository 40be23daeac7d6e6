package workflow

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Derive computes the members of the new state that nobody provided, and returns the state with
// them. given is the state of a document passed with this checkpoint, or nil if the state was
// carried over.
//
// A member counts as provided if it is in given, or if an edit changed it from what it was in the
// old state. Derivations run in order and see the results of earlier ones. One that cannot be
// evaluated is skipped. All other members keep their bytes.
func (d *Definition) Derive(c Change, given json.RawMessage) (json.RawMessage, error) {
	state := c.New
	if len(d.Derivations) == 0 {
		return state, nil
	}
	if len(state) == 0 {
		state = json.RawMessage("{}")
	}
	c.Handed = len(given) > 0
	m, old := newMeter(c.Old, state), value(c.Old)
	for _, rule := range d.Derivations {
		if isGiven(rule.Path, c, given) {
			continue
		}
		decoded, broken := decodeState(state)
		if broken != nil {
			return nil, &StateError{broken.Message}
		}
		e := d.overStates(m, old, decoded, c)
		if applies, err := e.holds(rule.When); err != nil || !applies {
			continue
		}
		value, err := e.evaluate(rule.Value)
		if err != nil {
			continue
		}
		if state, err = put(state, rule.Path, value); err != nil {
			return nil, fmt.Errorf("put derived %q: %w", rule.Path, err)
		}
	}
	return state, nil
}

// Underived returns the state without the derived members that given does not have. Two such states
// can be compared without regard to what is only computed, such as an elapsed time.
func (d *Definition) Underived(state, given json.RawMessage) json.RawMessage {
	for _, rule := range d.Derivations {
		if gjson.GetBytes(given, rule.Path).Exists() {
			continue
		}
		if less, err := put(state, rule.Path, nil); err == nil {
			state = less
		}
	}
	return state
}

// isGiven reports whether the member at path was provided, as opposed to carried over.
func isGiven(path string, c Change, given json.RawMessage) bool {
	if len(given) > 0 && gjson.GetBytes(given, path).Exists() {
		return true
	}
	now := gjson.GetBytes(c.New, path)
	return now.Exists() && now.Raw != gjson.GetBytes(c.Old, path).Raw
}

// put sets the member at path, or removes it if value is nil. It passes sjson a copy, so that the
// result never shares memory with the caller's state.
func put(state json.RawMessage, path string, value any) (json.RawMessage, error) {
	if value == nil {
		if !gjson.GetBytes(state, path).Exists() {
			return state, nil
		}
		return sjson.DeleteBytes(append([]byte{}, state...), path)
	}
	return sjson.SetRawBytes(append([]byte{}, state...), path, encode(value))
}
