package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// What Parse takes can be written, read again and sealed; nothing makes it panic.
func FuzzParse(f *testing.F) {
	r := example()
	data, err := Seal(r, Limits{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"id":"cp-03-20261120T094311123Z-4f2a","label":"cp-03","session":"a","created_at":"2026-11-20T09:43:11Z","x":{}}`))
	f.Add([]byte(`{"format":1,"snapshot":{"modes":{"a":"0600"},"modes_percent":{"%FF":"0600"},"skipped":[{"path":"%FF","encoding":"percent"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		_ = Verify(r, data)
		sealed, err := Seal(r, Limits{})
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		again, err := Parse(sealed)
		if err != nil || Verify(again, sealed) != nil {
			t.Fatalf("%v %v\n%s", err, Verify(again, sealed), sealed)
		}
		s, err := ParseMessage(Message(again, again.State))
		if err != nil || Agree(again, s) != nil {
			t.Fatalf("%v %v", err, Agree(again, s))
		}
	})
}

// ParseJSON accepts nothing that encoding/json rejects, and rejects only what breaks one of the
// four rules.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,null,true,"\ud83d\ude00"]}`, `{"a":1,"\u0061":2}`, `"\ud800"`, ` [ ] `, `[1,]`, "[[[[", `{"a":{"b":{}},"c":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := ParseJSON(data, Limits{Depth: 20})
		if (err == nil) != (json.Valid(data) && utf8.Valid(data) && isStrict(data, 20)) {
			t.Fatalf("%v for %q", err, data)
		}
		if err != nil {
			return
		}
		sum, err := Checksum(value)
		var compact bytes.Buffer
		_ = json.Compact(&compact, data)
		if other, err2 := Checksum(compact.Bytes()); err != nil || err2 != nil || sum != other {
			t.Fatalf("%v %v: %q and %q", err, err2, value, compact.Bytes())
		}
		if diff(value, compact.Bytes()) != nil {
			t.Fatalf("%q differs from %q", value, compact.Bytes())
		}
	})
}

// isStrict checks the same rules as check, but with the decoder of encoding/json.
func isStrict(data []byte, depth int) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var names []map[string]bool
	wantKey := []bool{false}
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		top := len(wantKey) - 1
		if token == json.Delim('}') || token == json.Delim(']') {
			names, wantKey = names[:len(names)-1], wantKey[:top]
			continue
		}
		if wantKey[top] {
			if names[top-1][token.(string)] {
				return false
			}
			names[top-1][token.(string)] = true
			wantKey[top] = false
			continue
		}
		wantKey[top] = top > 0 && names[top-1] != nil
		switch token {
		case json.Delim('{'):
			names, wantKey = append(names, map[string]bool{}), append(wantKey, true)
		case json.Delim('['):
			names, wantKey = append(names, nil), append(wantKey, false)
		}
		if len(names) > depth {
			return false
		}
	}
	// The decoder writes U+FFFD for half of a surrogate pair.
	var value any
	_ = json.Unmarshal(data, &value)
	decoded, _ := json.Marshal(value)
	halves := strings.Count(string(decoded), "\ufffd") > strings.Count(string(data), "\ufffd")+strings.Count(strings.ToLower(string(data)), `\ufffd`)
	return !halves
}

func FuzzParseMessage(f *testing.F) {
	r := example()
	if _, err := Seal(r, Limits{}); err != nil {
		f.Fatal(err)
	}
	f.Add(Message(r, r.State))
	f.Add("a\n\nCheckpoint-Id: b\n")
	f.Add("\n\n\n")
	f.Fuzz(func(t *testing.T, message string) {
		s, err := ParseMessage(message)
		if err != nil {
			return
		}
		for _, text := range []string{s.StepName, s.Iteration, s.Trigger, s.Status, s.Message} {
			if strings.ContainsFunc(text, isControl) || len(text) > 4*maxValue {
				t.Fatalf("%q", text)
			}
		}
		_ = Agree(r, s)
	})
}

// An edit gives a strict document in which only the named place differs.
func FuzzEdit(f *testing.F) {
	for _, seed := range [][3]string{{`{"a":[1,{"b":2}]}`, "a.1.b", "3"}, {`{"\"":{}}`, `".x`, "x"}, {"", "a.-1.:0", "[]"}, {`{"a.b":1}`, `a\.b`, "null"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, state, path, value string) {
		after, err := Set(json.RawMessage(state), path, value)
		if err != nil {
			return
		}
		for _, c := range diff(json.RawMessage(state), after) {
			if c.Op == Removed && len(c.Old) == len(state) {
				t.Fatalf("%+v: %q %q %q gave %q", c, state, path, value, after)
			}
		}
		if strings.Contains(path, endIndex) {
			return
		}
		less, err := Unset(after, path)
		if err != nil {
			t.Fatalf("%v: %q from %q", err, path, after)
		}
		if _, err := Unset(less, path); err == nil && !strings.ContainsAny(path, "0123456789") {
			t.Fatalf("%q is there twice in %q", path, after)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"a":[{"id":"1"},{"id":"2","x":1.0}]}`), []byte(`{"a":[{"id":"2","x":2},{"id":"~3"}]}`))
	f.Add([]byte(`[1,2,2]`), []byte(`[2,1e0]`))
	f.Add([]byte(`{"":{"":1}}`), []byte(`nonsense`))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		changes := diff(old, new)
		if _, err := ParseJSON(old, Limits{}); err != nil {
			return
		}
		if _, err := ParseJSON(new, Limits{}); err != nil {
			return
		}
		if (changes == nil) != (identity(old) == identity(new)) {
			t.Fatalf("%d changes from %q to %q", len(changes), old, new)
		}
		for _, c := range changes {
			document, value := new, c.New
			if c.Op == Removed {
				document, value = old, c.Old
			}
			if got, err := get(document, c.Path); err != nil || identity(got) != identity(value) {
				t.Fatalf("%q gives %q, %v, in %q", c.Path, got, err, document)
			}
		}
	})
}

func FuzzDecodePath(f *testing.F) {
	f.Add("a%FF", []byte(`{"path":"%FF","encoding":"percent"}`))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if p, err := DecodePath(text); err == nil {
			if again, percent := EncodePath(p); !percent || again != text {
				t.Fatalf("%q is %q is %q", text, p, again)
			}
		}
		var p Path
		_ = json.Unmarshal(data, &p)
	})
}
