package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// MergePatch applies a JSON merge patch (RFC 7396) to a state: a null removes the member, objects
// are merged, and any other value replaces the old one. The patch must be an object. Members that
// it does not have keep their bytes, so numbers keep their digits.
func MergePatch(state, patch json.RawMessage, limits Limits) (json.RawMessage, error) {
	document, err := startFrom(state, limits)
	if err != nil {
		return nil, err
	}
	if patch, err = ParseJSON(patch, limits); err != nil {
		return nil, fmt.Errorf("reading the patch: %w", err)
	}
	if !gjson.ParseBytes(patch).IsObject() {
		return nil, errors.New("reading the patch: it is not an object")
	}
	return ParseJSON(merged(gjson.ParseBytes(document), gjson.ParseBytes(patch)), limits)
}

// merged returns target with patch applied: the members of target in their order, then those that
// only the patch has.
func merged(target, patch gjson.Result) []byte {
	if !patch.IsObject() {
		return []byte(patch.Raw)
	}
	changes := map[string]gjson.Result{}
	// What is left in changes has no counterpart in target. Ranging over patch keeps its order.
	patch.ForEach(func(name, value gjson.Result) bool {
		changes[name.String()] = value
		return true
	})
	var out [][]byte
	put := func(name gjson.Result, value []byte) bool {
		out = append(out, append([]byte(name.Raw+":"), value...))
		return true
	}
	if target.IsObject() {
		target.ForEach(func(name, old gjson.Result) bool {
			change, named := changes[name.String()]
			delete(changes, name.String())
			switch {
			case !named:
				return put(name, []byte(old.Raw))
			case change.Type == gjson.Null:
				return true
			}
			return put(name, merged(old, change))
		})
	}
	patch.ForEach(func(name, value gjson.Result) bool {
		if _, left := changes[name.String()]; !left || value.Type == gjson.Null {
			return true
		}
		return put(name, merged(gjson.Result{}, value))
	})
	return append(append([]byte("{"), bytes.Join(out, []byte(","))...), '}')
}
