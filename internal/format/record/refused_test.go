package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What Seal refuses to write, Parse refuses to read, by the same rules.
func TestReaderRefusesWhatWriterRefuses(t *testing.T) {
	output := func(name string) func(*Record) {
		return func(r *Record) { r.Outputs[name] = r.Outputs["architecture"] }
	}
	wrong := map[string]func(*Record){
		"mode in words": func(r *Record) { r.Snapshot.Modes = map[Path]string{"a": "rw"} },
		"iteration":     func(r *Record) { r.Iteration = "../2" },
		"label":         func(r *Record) { r.Label = "cp-03-a/b" },
		"session":       func(r *Record) { r.Session = ".." },
		"step":          func(r *Record) { r.Step = maxStep + 1 },
	}
	for _, name := range []string{"", ".", "..", "...", ".git", ".GIT", "git~1", ".git ", "a/b", "/a", "a/", "../a", "-x", "_x", "a\nb", "a\x00", "a b", `a\b`, "a:b", "ä", "\u200c.git", strings.Repeat("x", 101)} {
		wrong["output "+name] = output(name)
	}
	for what, spoil := range wrong {
		r := example()
		spoil(r)
		if _, err := Seal(r, Limits{}); err == nil {
			t.Errorf("%s: it is written", what)
		}
		if r, err := Parse(loose(t, r)); err == nil {
			t.Errorf("%s: it is read: %+v", what, r)
		}
	}
	for _, name := range []string{"x", "X1", "a..b", "1.md", "a-_.", strings.Repeat("x", 100)} {
		r := example()
		output(name)(r)
		if _, err := Parse(sealed(t, r)); err != nil {
			t.Errorf("output %q: %v", name, err)
		}
	}
}

// loose writes a record without any check, as an attacker would.
func loose(t *testing.T, r *Record) []byte {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(sealed(t, example()), &tree); err != nil {
		t.Fatal(err)
	}
	outputs, modes := map[string]any{}, map[string]any{}
	for name, o := range r.Outputs {
		outputs[name] = map[string]any{"path": "outputs/x", "oid": string(o.OID)}
	}
	for p, mode := range r.Snapshot.Modes {
		modes[string(p)] = mode
	}
	tree["outputs"], tree["iteration"], tree["label"], tree["session"], tree["step"] = outputs, r.Iteration, r.Label, string(r.Session), r.Step
	tree["snapshot"] = map[string]any{"modes": modes}
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A record counts with the size that it has when it is written, so that whoever reads it can write it.
func TestStoredSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord().Draw(t, "record")
		stored, err := r.Marshal(Limits{})
		if err != nil {
			t.Skip(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, stored); err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{stored, compact.Bytes()} {
			if size := storedSize(text); size != int64(len(stored)) {
				t.Fatalf("storedSize(%q) is %d, but it is written with %d bytes", text, size, len(stored))
			}
		}
	})
	for what, state := range map[string]string{
		"many lines":  "[" + strings.Repeat("0,", 7_000_000) + "0]",
		"deep lines":  strings.Repeat("[", 90) + strings.Repeat("0,", 300_000) + "0" + strings.Repeat("]", 90),
		"C1 controls": `"` + strings.Repeat("\u0085", 9_000_000) + `"`,
		"directions":  `"` + strings.Repeat("\u202e", 9_000_000) + `"`,
		"deleted":     `"` + strings.Repeat("\x7f", 9_000_000) + `"`,
	} {
		if testing.Short() && what != "deep lines" {
			continue
		}
		large := strings.Replace(string(sealed(t, example())), `"state": {`, `"state": {"x": `+state+`,`, 1)
		if _, err := Parse([]byte(large)); !errors.As(err, new(*SizeError)) {
			t.Errorf("%s: %d bytes that cannot be written are read: %v", what, len(large), err)
		}
	}
}

// A record has a limited number of members and elements, for whoever writes it and for whoever reads it.
// Commas and brackets in texts do not count.
func TestLimitOfValues(t *testing.T) {
	list := func(element string, n int) json.RawMessage {
		return json.RawMessage("[" + strings.Repeat(element+",", n-1) + element + "]")
	}
	for _, fits := range []json.RawMessage{list("0", MaxValues-1), list(`",,,,[[[[{{{{\",,"`, MaxValues/10)} {
		if _, err := ParseJSON(fits, Limits{}); err != nil {
			t.Errorf("%.20s…: %v", fits, err)
		}
	}
	for _, many := range []json.RawMessage{list("0", MaxValues+1), list("[[[]]]", MaxValues/4+1), list(`{"a":1}`, MaxValues/2+1)} {
		r := example()
		data := sealed(t, r)
		data = append(bytes.TrimRight(data, "}\n"), append(append([]byte(`, "later": `), many...), '}')...)
		r.State = many
		_, written := Seal(r, Limits{})
		_, read := Parse(data)
		_, value := ParseJSON(many, Limits{})
		for _, err := range []error{written, read, value} {
			if size, is := errors.AsType[*SizeError](err); !is || !size.Values {
				t.Errorf("%.20s…: %v", many, err)
			}
		}
	}
}
