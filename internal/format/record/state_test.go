package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	tests := []struct{ state, path, value, want string }{
		{``, "a", "1", `{"a":1}`},
		{`null`, "a.b", "x", `{"a":{"b":"x"}}`},
		{`{"n": 9007199254740993, "f": 1.50}`, "a", "1E400", `{"n":9007199254740993,"f":1.50,"a":1E400}`},
		{`{"a":1}`, "a", ` {"b": [1.0]} `, `{"a":{"b": [1.0]} }`},
		{`{"a":1}`, "a", "01", `{"a":"01"}`},
		{`{"a":1}`, "a", "", `{"a":""}`},
		{`{"a":1}`, "a", "{broken", `{"a":"{broken"}`},
		{`{"a":1}`, "a", "a\x00<b>\u009b", "{\"a\":\"a\\u0000<b>\u009b\"}"},
		{`{"a":[1,2]}`, "a.0", "null", `{"a":[null,2]}`},
		{`{"a":[1,2]}`, "a.-1", "3", `{"a":[1,2,3]}`},
		{`{"a":[1,2]}`, "a.2.b", "3", `{"a":[1,2,{"b":3}]}`},
		{`{}`, "a.0.b", "3", `{"a":[{"b":3}]}`},
		{`{}`, "a.-1", "3", `{"a":[3]}`},
		{`{}`, "a.:7", "3", `{"a":{"7":3}}`},
		{`{"a":{"7":1}}`, "a.7", "3", `{"a":{"7":3}}`},
		{`{"a":null}`, "a.b", "3", `{"a":{"b":3}}`},
		{`{}`, `a\.b`, "3", `{"a.b":3}`},
		{`{"a.b*#":1}`, `a\.b\*\#`, "3", `{"a.b*#":3}`},
		{`{}`, `[x].{y.!z`, "3", `{"[x]":{"{y":{"!z":3}}}`},
		{`{":a":1}`, `::a`, "3", `{":a":3}`},
		{`[]`, "0", "3", `[3]`},
	}
	for _, tt := range tests {
		got, err := Set(json.RawMessage(tt.state), tt.path, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s=%s: got %s, %v, want %s", tt.state, tt.path, tt.value, got, err, tt.want)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	tests := []struct{ state, path, value, want string }{
		{`{}`, "", "1", "a path has 1 to 4096 bytes"},
		{`{}`, strings.Repeat("a", 5000), "1", "a path has 1 to 4096 bytes"},
		{`{}`, "a..b", "1", "a part of it is empty"},
		{`{}`, "a.", "1", "a part of it is empty"},
		{`{}`, ":", "1", "a part of it is empty"},
		{`{}`, `a\`, "1", "there is nothing after"},
		{`{}`, "\xff", "1", "of UTF-8"},
		{`{"a":[{}]}`, "a.#.b", "1", `write "\#"`},
		{`{}`, "a*", "1", `write "\*"`},
		{`{}`, "@this", "1", `write "\@"`},
		{`{"a":[]}`, "a.999999999", "1", "index 999999999 is past the end of an array of 0"},
		{`{"a":[]}`, "a.18446744073709551616", "1", "past the end of an array of 0"},
		{`{}`, "a.999999999", "1", `write ":999999999" for a name`},
		{`{}`, "a.2", "1", "there is no array for index 2"},
		{`{"a":[]}`, "a.b", "1", `"b" is not an index`},
		{`{"a":[]}`, "a.:0", "1", `"0" is not an index`},
		{`{"a":"text"}`, "a.b", "1", `"b" would be in "text"`},
		{`7`, "a", "1", `"a" would be in 7`},
		{`{"a":1,"a":2}`, "b", "1", "a second member"},
		{`{}`, "a", `{"b":1,"b":1}`, "a second member"},
		{`{}`, "a", strings.Repeat("[", 200_000), "nested more than 100 deep"},
		{`{}`, "a", "\xff", "not UTF-8"},
		{`{}`, strings.Repeat("a.", 100) + "a", "1", "more than 100 levels"},
		{`{}`, strings.Repeat("a.", 50) + "a", strings.Repeat("[", 60) + strings.Repeat("]", 60), "nested more than 100 deep"},
	}
	for _, tt := range tests {
		got, err := Set(json.RawMessage(tt.state), tt.path, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 600 {
			t.Errorf("%s %.50s=%.50s: got %s, %v, want %s", tt.state, tt.path, tt.value, got, err, tt.want)
		}
	}
	if _, err := Set(json.RawMessage(`{}`), "a", strings.Repeat("x", MaxSize)); !errors.As(err, new(*SizeError)) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestUnset(t *testing.T) {
	tests := []struct{ state, path, want string }{
		{`{"a":1, "b" : 2.0}`, "b", `{"a":1}`},
		{`{"a":1, "b" : 2.0}`, "a", `{"b":2.0}`},
		{`{"a":[1,2,3]}`, "a.-1", `{"a":[1,2]}`},
		{`{"a":[1,2,3]}`, "a.0", `{"a":[2,3]}`},
		{`{"a.b":{"\"\\":[1]}}`, `a\.b."\\`, `{"a.b":{}}`},
		{`{"a":{"x":1,"y":{"z":1.0}}}`, "a.y.z", `{"a":{"x":1,"y":{}}}`},
	}
	for _, tt := range tests {
		got, err := Unset(json.RawMessage(tt.state), tt.path)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: got %s, %v, want %s", tt.state, tt.path, got, err, tt.want)
		}
	}
	for _, path := range []string{"b", "a.3", "a.-1.x", "a.0.b", "c.d"} {
		_, err := Unset(json.RawMessage(`{"a":[],"c":null}`), path)
		if err == nil || !strings.Contains(err.Error(), "path ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// After Set the value is there and everything else is unchanged. Unset gives back the original.
func TestSetAndUnset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := map[string]any{"in": rapid.MapOfN(genText(), genValue(1), 0, 3).Draw(t, "in"), "list": []any{true, nil}, "n": number("9007199254740993")}
		before := json.RawMessage(spell(t, state))
		name := "n" + genText().Draw(t, "name")
		if _, taken := state["in"].(map[string]any)[name]; taken {
			t.Skip("taken")
		}
		value := plain(genValue(1).Draw(t, "value"))
		after, err := SetMetric(before, "in", name, value)
		if err != nil {
			t.Fatal(err)
		}
		changes := diff(before, after)
		want := "in." + gjson.Escape(name)
		if len(changes) != 1 || changes[0].Path != want || string(changes[0].New) != value {
			t.Fatalf("%+v, want %s\n%s\n%s", changes, want, before, after)
		}
		back, err := Unset(after, want)
		if err != nil || diff(before, back) != nil {
			t.Fatalf("%v\n%s\n%s", err, before, back)
		}
	})
}

func TestSetMetric(t *testing.T) {
	tests := []struct{ state, metrics, name, value, want string }{
		{`{}`, "metrics", "build_pass", "true", `{"metrics":{"build_pass":true}}`},
		{`{"metrics":{"p99.9":1}}`, "metrics", "p99.9", "2.50", `{"metrics":{"p99.9":2.50}}`},
		{`{}`, "a.b", "99", "x", `{"a":{"b":{"99":"x"}}}`},
		{`{}`, "", "#", "1", `{"#":1}`},
	}
	for _, tt := range tests {
		got, err := SetMetric(json.RawMessage(tt.state), tt.metrics, tt.name, tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: got %s, %v, want %s", tt.metrics, tt.name, got, err, tt.want)
		}
	}
	for _, bad := range [][2]string{{"a..b", "x"}, {"metrics", ""}} {
		if got, err := SetMetric(nil, bad[0], bad[1], "1"); err == nil || !strings.Contains(err.Error(), "path ") {
			t.Errorf("%v: %s, %v", bad, got, err)
		}
	}
	if _, err := SetMetric(json.RawMessage(`{"metrics":[1]}`), "metrics", "0", "1"); err == nil {
		t.Error("a metric went into an array")
	}
}

// get returns the value at a path of a change.
func get(document []byte, path string) (json.RawMessage, error) {
	found := gjson.GetBytes(document, path)
	if !found.Exists() {
		return nil, fmt.Errorf("nothing is at %q", path)
	}
	return json.RawMessage(found.Raw), nil
}

// A state that ParseJSON takes always fits into a record.
func TestDepthLeavesRoom(t *testing.T) {
	r := example()
	var err error
	if r.State, err = ParseJSON([]byte(strings.Repeat("[", 100)+strings.Repeat("]", 100)), Limits{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(sealed(t, r)); err != nil {
		t.Error(err)
	}
	if _, err := ParseJSON([]byte(strings.Repeat("[", 101)+strings.Repeat("]", 101)), Limits{}); err == nil {
		t.Error("101 deep was taken")
	}
}
