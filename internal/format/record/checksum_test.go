package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// Order of members, whitespace, escapes and the spelling of numbers do not count.
func TestChecksumOfSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"v": genValue(3).Draw(t, "value"), "checksum": "a"}
		one := spell(t, v)
		v["checksum"] = "b"
		other := spell(t, v)
		a, err := Checksum([]byte(one))
		b, err2 := Checksum([]byte(other))
		if a != b || err != nil || err2 != nil {
			t.Fatalf("%v %v\n%s\n%s", err, err2, one, other)
		}
	})
}

// Any change of any value counts.
func TestChecksumOfChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		before := plain(map[string]any{"v": v})
		after := plain(map[string]any{"v": mutate(t, v)})
		a, err := Checksum([]byte(before))
		b, err2 := Checksum([]byte(after))
		if a == b || err != nil || err2 != nil {
			t.Fatalf("%v %v\n%s\n%s", err, err2, before, after)
		}
		if diff(json.RawMessage(before), json.RawMessage(after)) == nil {
			t.Fatalf("no difference\n%s\n%s", before, after)
		}
	})
}

// mutate changes one value somewhere in v.
func mutate(t *rapid.T, v any) any {
	switch v := v.(type) {
	case map[string]any:
		changed := make(map[string]any)
		for k, e := range v {
			changed[k] = e
		}
		if keys := sortedKeys(v); len(keys) > 0 && rapid.Bool().Draw(t, "inside") {
			k := rapid.SampledFrom(keys).Draw(t, "member")
			changed[k] = mutate(t, v[k])
		} else {
			changed["a new name"] = nil
		}
		return changed
	case []any:
		if len(v) > 0 && rapid.Bool().Draw(t, "inside") {
			i := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			changed := append([]any(nil), v...)
			changed[i] = mutate(t, v[i])
			return changed
		}
		return append(append([]any(nil), v...), true)
	case number:
		if v == "9007199254740993" {
			return number("9007199254740992")
		}
		return number("9007199254740993")
	case string:
		return v + "\u0001"
	case bool:
		return !v
	}
	return map[string]any{}
}

// Where a double holds every number, the form is the library's.
func TestCanonicalIsRFC8785(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := spell(t, genValue(3).Draw(t, "value"))
		for _, n := range []string{"e40", "e-400", "740993", "5511151", "e9999"} {
			if strings.Contains(text, n) {
				t.Skip("numbers that the library cannot hold")
			}
		}
		want, err := jcs.Transform([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := canonical([]byte(text), checksumNumber); err != nil || string(got) != string(want) {
			t.Fatalf("%v\ngot  %s\nwant %s", err, got, want)
		}
	})
}

func TestChecksumOfNumbers(t *testing.T) {
	tests := []struct{ number, form string }{
		{"0", "0"}, {"-0", "0"}, {"-0.0e7", "0"}, {"1.0", "1"}, {"10e-1", "1"}, {"1E3", "1000"}, {"1e21", "1e+21"},
		{"0.1", "0.1"}, {"1e-7", "1e-7"}, {"9007199254740992", "9007199254740992"}, {"123456789012345678", `"123456789012345678"`},
		{"9007199254740993", `"9007199254740993"`}, {"1e400", `"1e400"`}, {"1e-400", `"1e-400"`}, {"-1E400", `"-1E400"`},
		{"0.1000000000000000055511151231257827", `"0.1000000000000000055511151231257827"`},
		{"1e99999999999999999999999", `"1e99999999999999999999999"`}, {"0e99999999999999999999999", "0"},
	}
	for _, tt := range tests {
		if got, err := canonical([]byte(tt.number), checksumNumber); err != nil || string(got) != tt.form {
			t.Errorf("%s: got %s, %v, want %s", tt.number, got, err, tt.form)
		}
	}
}

// Names are ordered by UTF-16, where U+FFFD comes after a surrogate pair.
func TestCanonicalOrder(t *testing.T) {
	got, err := canonical([]byte(`{"`+"\ufffd"+`":1,"💾":{"c":3},"b":4,"":5,"a\u0062":6}`), checksumNumber)
	if want := `{"":5,"ab":6,"b":4,"💾":{"c":3},"` + "\ufffd" + `":1}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestVerify(t *testing.T) {
	r := example()
	data := string(sealed(t, r))
	if err := Verify(r, []byte(data)); err != nil {
		t.Error(err)
	}
	for _, raw := range []string{
		edit(data, "API first", "API last"), edit(data, `"id"`, `"unknown": 0, "id"`), edit(data, `"size": 4312`, `"size": 4313`),
	} {
		if err := Verify(r, []byte(raw)); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("got %v for\n%s", err, raw)
		}
	}
	if err := Verify(r, []byte(`{"a":1,"a":1}`)); err == nil || strings.Contains(err.Error(), "the record has") {
		t.Errorf("duplicate members: %v", err)
	}
	r.Checksum = ""
	if err := Verify(r, []byte(data)); err == nil || !strings.Contains(err.Error(), "no checksum") {
		t.Errorf("unsealed: %v", err)
	}
}
