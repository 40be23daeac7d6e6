package revert

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// reversed returns the state now without what changed from before to after: the JSON merge patch
// (RFC 7396) between the two, backwards. Members that somebody has changed since to something else are
// named, with the path of each, and stay. States are objects.
func reversed(now, after, before json.RawMessage) (json.RawMessage, []string, error) {
	var n, a, b map[string]json.RawMessage
	for of, into := range map[*json.RawMessage]*map[string]json.RawMessage{&now: &n, &after: &a, &before: &b} {
		if err := json.Unmarshal(*of, into); err != nil {
			return now, nil, err
		}
	}
	changed, conflicts := reverse("", n, a, b)
	if !changed {
		return now, conflicts, nil
	}
	out, err := json.Marshal(n)
	return out, conflicts, err
}

// reverse does it for one object, in place.
func reverse(at string, now, after, before map[string]json.RawMessage) (changed bool, conflicts []string) {
	keys := maps.Clone(after)
	maps.Copy(keys, before)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		n, a, b := now[key], after[key], before[key]
		switch {
		case same(a, b) || same(n, b):
		case same(n, a):
			changed = true
			if now[key] = b; b == nil {
				delete(now, key)
			}
		default:
			no, ao, bo := object(n), object(a), object(b)
			if no == nil || ao == nil || bo == nil {
				conflicts = append(conflicts, at+key)
				continue
			}
			inside, more := reverse(at+key+".", no, ao, bo)
			conflicts = append(conflicts, more...)
			if inside {
				changed = true
				now[key], _ = json.Marshal(no) //nolint:errcheck // it was decoded from JSON
			}
		}
	}
	return changed, conflicts
}

// object returns the members of a JSON object, or nil if it is not one.
func object(value json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// same compares two JSON values; nil means that there is none.
func same(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return (a == nil) == (b == nil)
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
