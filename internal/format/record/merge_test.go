package record

import (
	"encoding/json"
	"testing"
)

// The examples are those of RFC 7396, appendix A, as far as the state stays an object.
func TestMergePatch(t *testing.T) {
	tests := []struct{ state, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{"a":"foo"}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		// An array is a value: what is null in it stays.
		{`{}`, `{"a":[{"b":null},null]}`, `{"a":[{"b":null},null]}`},
		// What is not named stays as it is written, and names are compared unescaped.
		{`{"n": 9007199254740993, "f": 1.50, "t":"<b>"}`, `{"g":1E400}`, `{"n":9007199254740993,"f":1.50,"t":"<b>","g":1E400}`},
		{`{"\u0061":1,"b.c":{"x":2}}`, `{"a":null,"b.c":{"x":3}}`, `{"b.c":{"x":3}}`},
		{``, `{"a":1}`, `{"a":1}`},
	}
	for _, tt := range tests {
		got, err := MergePatch(json.RawMessage(tt.state), json.RawMessage(tt.patch))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s with %s: got %s, %v, want %s", tt.state, tt.patch, got, err, tt.want)
		}
	}
}

func TestMergePatchRefuses(t *testing.T) {
	for patch, want := range map[string]string{
		`[1]`:           "reading the patch: it is not an object",
		`null`:          "reading the patch: it is not an object",
		`{"a":1,"a":2}`: "",
		`{"a":`:         "",
	} {
		got, err := MergePatch(json.RawMessage(`{"a":0}`), json.RawMessage(patch))
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: got %s, %v, want %q", patch, got, err, want)
		}
	}
}
