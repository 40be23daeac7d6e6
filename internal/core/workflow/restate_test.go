package workflow

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What a change leaves keeps its spelling: white space, order, the digits of numbers.
func TestRespell(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a": 1.50, "b": [1,  2]}`, `{"a":1.50,"b":[1,2]}`, `{"a": 1.50, "b": [1,  2]}`},
		{"{\n\t\"a\" : 1,\n\t\"b\": 2\n}\n", `{"a":1,"b":3}`, "{\n\t\"a\" : 1,\n\t\"b\": 3\n}\n"},
		{"{\n \"a\": {\"x\":  1},\n \"b\": 2 }", `{"a":{"x":1,"y":2}}`, "{\n \"a\": {\"x\":  1,\"y\":  2} }"},
		{"{\n \"b\": 2\n}", `{"b":2,"c":{"d":1}}`, "{\n \"b\": 2,\n \"c\": {\"d\":1}\n}"},
		{`{"b": 2, "c": 3}`, `{"c":3}`, `{ "c": 3}`},
		{`{"b": 2}`, `{}`, `{}`},
		{`{ }`, `{"a":[]}`, `{"a":[]}`},
		{`{"a,{": "b", "b": "a,{"}`, `{"a,{":"b","b":1}`, `{"a,{": "b", "b": 1}`},
		{`{"a":{"b": 1}}`, `{"a":[{"b": 1}]}`, `{"a":[{"b": 1}]}`},
	} {
		if got := string(respell([]byte(c[0]), []byte(c[1]))); got != c[2] {
			t.Errorf("%s → %s:\n%s, want\n%s", c[0], c[1], got, c[2])
		}
	}
}

// Whatever changes, the result is the new value.
func TestRespellIsTheNewValue(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "a", "b", `"`, ",", "{", ":", "é\n"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.SampledFrom([]any{nil, true, 1.5, "a", `"{,:`, []any{}, map[string]any{}})
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Map(rapid.MapOfN(names, value(depth-1), 0, 4), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(l []any) any { return l }))
	}
	rapid.Check(t, func(t *rapid.T) {
		before, after := value(3).Draw(t, "before"), value(3).Draw(t, "after")
		was, _ := json.MarshalIndent(before, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		now, _ := json.Marshal(after)
		var got any
		if err := json.Unmarshal(respell(was, now), &got); err != nil || !cmp.Equal(got, after) {
			t.Errorf("%s → %s: %s", was, now, respell(was, now))
		}
	})
}
