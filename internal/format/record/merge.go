package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// MergePatch applies a JSON merge patch (RFC 7396) to a state: a null removes the member, objects
// are merged, and any other value replaces the old one. The patch must be an object. Members that
// it does not have keep their bytes, so numbers keep their digits.
func MergePatch(state, patch json.RawMessage) (json.RawMessage, error) {
	document, err := startFrom(state)
	if err != nil {
		return nil, err
	}
	if patch, err = ParseJSON(patch, Limits{}); err != nil {
		return nil, fmt.Errorf("reading the patch: %w", err)
	}
	if kind(patch) != '{' {
		return nil, errors.New("reading the patch: it is not an object")
	}
	return ParseJSON(merged(document, patch), Limits{})
}

// merged returns target with patch applied: the members of target in their order, then those that
// only the patch has. target is nil if there is none.
func merged(target, patch []byte) []byte {
	if kind(patch) != '{' {
		return patch
	}
	changes := maps.Collect(members(patch))
	var out []item
	for name, old := range members(target) {
		change, named := changes[name]
		delete(changes, name)
		if !named {
			out = append(out, item{name, old})
		} else if kind(change) != 'n' {
			out = append(out, item{name, merged(old, change)})
		}
	}
	// What is left in changes has no counterpart in target. Ranging over patch keeps its order.
	for name, value := range members(patch) {
		if _, left := changes[name]; left && kind(value) != 'n' {
			out = append(out, item{name, merged(nil, value)})
		}
	}
	return joined(out, '{')
}
