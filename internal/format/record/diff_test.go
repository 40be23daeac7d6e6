package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// diff compares by "id", as most workflows do.
func diff(old, new json.RawMessage) []Change {
	return Diff(old, new, func(string) []string { return []string{"id"} })
}

func diffLines(old, new string) string {
	var b strings.Builder
	for _, c := range diff(json.RawMessage(old), json.RawMessage(new)) {
		fmt.Fprintf(&b, "%s %s: %s → %s\n", c.Op, c.Path, c.Old, c.New)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"equal in other words", `{"a":1.0,"b":[1e2,"x"],"c":-0}`, `{"c":0,"b":[100,"\u0078"],"a":1}`, ""},
		{"members", `{"p":"a","m":{"x":false,"y":1},"gone":[1]}`, `{"p":"b","m":{"x":true,"y":1},"come":{}}`,
			"added come:  → {}\nremoved gone: [1] → \nchanged m.x: false → true\nchanged p: \"a\" → \"b\"\n"},
		{"exact numbers", `{"a":9007199254740992,"b":1e400}`, `{"a":9007199254740993,"b":1e401}`,
			"changed a: 9007199254740992 → 9007199254740993\nchanged b: 1e400 → 1e401\n"},
		{"names that need escapes", `{"a.b":{"#":1}}`, `{"a.b":{"#":2}}`, "changed a\\.b.\\#: 1 → 2\n"},
		{"tasks by id",
			`{"t":[{"id":"k1","status":"done"},{"id":"k2","status":"open","n":[1,2]},{"id":"k3"}]}`,
			`{"t":[{"id":"k4"},{"id":"k2","status":"done","n":[2,3]},{"id":"k1","status":"done"}]}`,
			"removed t.#(id==\"k2\").n.0: 1 → \nadded t.#(id==\"k2\").n.1:  → 3\nchanged t.#(id==\"k2\").status: \"open\" → \"done\"\n" +
				"removed t.#(id==\"k3\"): {\"id\":\"k3\"} → \nadded t.#(id==\"k4\"):  → {\"id\":\"k4\"}\n"},
		{"numbers as ids", `[{"id":1,"a":1}]`, `[{"id":1,"a":2}]`, "changed #(id==1).a: 1 → 2\n"},
		{"ids of two types", `[{"id":1,"a":1}]`, `[{"id":"1","a":2}]`, "removed 0: {\"id\":1,\"a\":1} → \nadded 0:  → {\"id\":\"1\",\"a\":2}\n"},
		{"ids of mixed types", `[{"id":1},{"id":"1","a":1}]`, `[{"id":1},{"id":"1","a":2}]`, "removed 1: {\"id\":\"1\",\"a\":1} → \nadded 1:  → {\"id\":\"1\",\"a\":2}\n"},
		{"an id twice", `[{"id":"a"},{"id":"a"}]`, `[{"id":"a"}]`, "removed 1: {\"id\":\"a\"} → \n"},
		{"bags", `["a","b","b"]`, `["b","c"]`, "removed 0: \"a\" → \nremoved 2: \"b\" → \nadded 1:  → \"c\"\n"},
		{"an object without id that changed", `[{"type":"db","why":"a"},{"type":"ui"}]`, `[{"type":"db","why":"b"},{"type":"ui"}]`, "changed 0.why: \"a\" → \"b\"\n"},
		{"one changed, and another before it", `[{"type":"db","why":"it is fast"}]`, `[{"type":"ui","why":"b"},{"type":"db","why":"it is small"}]`,
			"changed 1.why: \"it is fast\" → \"it is small\"\nadded 0:  → {\"type\":\"ui\",\"why\":\"b\"}\n"},
		{"of one kind, with another before it", `[{"type":"db","decision":"use SQLite","why":"a"},{"type":"db","decision":"no cache","why":"b"}]`,
			`[{"type":"db","decision":"one file","why":"x"},{"type":"db","decision":"use SQLite","why":"c"},{"type":"db","decision":"no cache","why":"b"}]`,
			"changed 1.why: \"a\" → \"c\"\nadded 0:  → {\"type\":\"db\",\"decision\":\"one file\",\"why\":\"x\"}\n"},
		{"one gone, the next changed", `[{"t":"a","v":1},{"t":"b","v":2}]`, `[{"t":"b","v":3}]`, "removed 0: {\"t\":\"a\",\"v\":1} → \nchanged 0.v: 2 → 3\n"},
		{"nothing in common, elsewhere", `[{"a":1},{"b":2}]`, `[{"b":2},{"c":3}]`, "removed 0: {\"a\":1} → \nadded 1:  → {\"c\":3}\n"},
		{"objects without id", `[{"type":"x","v":1}]`, `[{"v":1.0,"type":"x"},{"type":"y"}]`, "added 1:  → {\"type\":\"y\"}\n"},
		{"moved", `{"a":[1,2]}`, `{"a":[2,1]}`, "changed a: [1,2] → [2,1]\n"},
		{"moved tasks", `[{"id":"a"},{"id":"b"}]`, `[{"id":"b"},{"id":"a"}]`, "changed @this: [{\"id\":\"a\"},{\"id\":\"b\"}] → [{\"id\":\"b\"},{\"id\":\"a\"}]\n"},
		{"types", `{"a":[1]}`, `{"a":{"0":1}}`, "changed a: [1] → {\"0\":1}\n"},
		{"null is a value", `{"a":null}`, `{}`, "removed a: null → \n"},
		{"whole documents", `1`, `"1"`, "changed @this: 1 → \"1\"\n"},
		{"none before", ``, `{}`, "added @this:  → {}\n"},
		{"none after", `{}`, ``, "removed @this: {} → \n"},
		{"the empty name", `{"a":{"":1,"b":1}}`, `{"a":{"":2,"b":2}}`, "changed a: {\"\":1,\"b\":1} → {\"\":2,\"b\":2}\n"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, diffLines(tt.old, tt.new)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Get accepts every path and finds the value there, also below "state"; and there
// is no difference exactly when the values are equal.
func TestDiffPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "old")
		w := genValue(3).Draw(t, "new")
		if rapid.Bool().Draw(t, "related") {
			w = mutate(t, v)
		}
		old, new := spell(t, v), spell(t, w)
		changes := diff(json.RawMessage(old), json.RawMessage(new))
		if (changes == nil) != (identity([]byte(old)) == identity([]byte(new))) {
			t.Fatalf("%d changes\n%s\n%s", len(changes), old, new)
		}
		for _, c := range changes {
			document, value := new, c.New
			if c.Op == Removed {
				document, value = old, c.Old
			}
			for _, q := range [][2]string{{document, c.Path}, {`{"x":{"state":` + document + `}}`, "x.state." + c.Path}} {
				got, err := get([]byte(q[0]), q[1])
				if err != nil || identity(got) != identity(value) {
					t.Fatalf("%q gives %s, %v, and not %s in\n%s", q[1], got, err, value, q[0])
				}
			}
			if (c.Op == Added) != (c.Old == nil) || (c.Op == Removed) != (c.New == nil) {
				t.Fatalf("%+v", c)
			}
		}
		if again := diff(json.RawMessage(old), json.RawMessage(new)); !cmp.Equal(changes, again) {
			t.Fatal("another order the second time")
		}
	})
}

// An id finds its element whatever characters it has, nested too.
func TestDiffOfOddIDs(t *testing.T) {
	for _, id := range []string{`a"b`, `a\b`, "a|b", "a#b", "x.#(y|z", "a)b", "[", "{}", "@this", "!true", "~true", "*", "?", "", " ", "\x00", "a.b", "==", "ü💾", "3", strings.Repeat("@,", 30)} {
		quoted := string(appendText(nil, id))
		document := `{"t":[{"id":"other"},{"id":` + quoted + `,"in":[{"id":"other"},{"id":` + quoted + `,"v.|w` + strings.Repeat("@,", 30) + `":1}]}]}`
		changed := strings.Replace(document, `:1}`, `:2}`, 1)
		changes := diff(json.RawMessage(document), json.RawMessage(changed))
		last := changes[len(changes)-1]
		got, err := get([]byte(changed), last.Path)
		if err != nil || string(got) != string(last.New) || len(changes) > 1 != (id == "~true") {
			t.Errorf("%q: %+v gives %s, %v", id, changes, got, err)
		}
	}
}

// A document that would make the diff huge results in one change of a part of it.
func TestDiffIsBounded(t *testing.T) {
	long := strings.Repeat("k", 2000)
	var many strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&many, `"%d":0,`, i)
	}
	for name, document := range map[string]string{
		"long names":    `{"` + long + `":{"` + long + `":{"a":0}}}`,
		"many below":    `{"` + long + `":{` + many.String() + `"a":0}}`,
		"many elements": `{"x":[` + strings.Repeat("0,", 200_000) + `0]}`,
	} {
		changes := diff(json.RawMessage(document), json.RawMessage(strings.ReplaceAll(document, "0", "7")))
		if len(changes) != 1 || len(changes[0].Path) > maxPath {
			t.Errorf("%s: %d changes", name, len(changes))
		}
	}
}

func TestDiffOutputs(t *testing.T) {
	three, none := 3, 0
	old := map[string]Output{"spec": {OID: "a", Lines: 3}, "same": {OID: "b"}, "files": {OID: "c", Lines: 1, Entries: &three}}
	new := map[string]Output{"same": {OID: "b", Source: "moved"}, "files": {OID: "d", Lines: 2, Entries: &none}, "api": {OID: "e", Lines: 9}}
	want := []OutputChange{
		{Name: "api", Op: Added, NewLines: 9}, {Name: "files", Op: Changed, OldLines: 1, NewLines: 2, OldEntries: &three, NewEntries: &none},
		{Name: "spec", Op: Removed, OldLines: 3},
	}
	if diff := cmp.Diff(want, DiffOutputs(old, new)); diff != "" {
		t.Error(diff)
	}
}

func TestMeasure(t *testing.T) {
	for content, want := range map[string]string{
		"": "0", "a": "1", "a\n": "1", "a\nb": "2", "[1]x": "1", `{"a":[1]}`: "1", "[]": "1 0", " [1,\n{\"a\":[2]},\"]\"]\n": "2 3", `[{"a":1,"a":2}]`: "1",
	} {
		lines, entries := Measure([]byte(content))
		got := fmt.Sprint(lines)
		if entries != nil {
			got += fmt.Sprint(" ", *entries)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", content, got, want)
		}
	}
}
