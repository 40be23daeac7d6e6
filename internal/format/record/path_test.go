package record

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Every path comes back, and lists of ordinary paths stay lists of strings.
func TestPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPath().Draw(t, "path")
		text, percent := EncodePath(p)
		if percent == utf8.ValidString(string(p)) || !utf8.ValidString(text) {
			t.Fatalf("%q became %q, %v", p, text, percent)
		}
		if !percent && text != string(p) {
			t.Fatalf("%q was changed to %q", p, text)
		}
		if percent {
			if back, err := DecodePath(text); err != nil || back != p {
				t.Fatalf("%q came back as %q, %v", p, back, err)
			}
		}
		data, err := json.Marshal([]Path{p})
		if err != nil {
			t.Fatal(err)
		}
		var back []Path
		if err := json.Unmarshal(data, &back); err != nil || back[0] != p {
			t.Fatalf("%s: %q, %v", data, back, err)
		}
	})
}

func TestPathForms(t *testing.T) {
	for p, want := range map[Path]string{
		"a%b ü": `"a%b ü"`, "a%b\xff": `{"path":"a%25b%FF","encoding":"percent"}`, "": `""`,
	} {
		if got, _ := p.MarshalJSON(); string(got) != want {
			t.Errorf("%q: got %s, want %s", p, got, want)
		}
	}
	for _, text := range []string{"", "a", "%", "%F", "%ff", "%41%FF", "a%FF%", "%C3%BC"} {
		if p, err := DecodePath(text); err == nil {
			t.Errorf("%q was decoded to %q", text, p)
		}
	}
	for _, data := range []string{`3`, `{}`, `{"path": 3}`, `{"path": "a", "encoding": "percent"}`, `{"encoding": "percent"}`} {
		var p Path
		if err := json.Unmarshal([]byte(data), &p); err == nil {
			t.Errorf("%s was read as %q", data, p)
		}
	}
}
