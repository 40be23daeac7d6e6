package render

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJSON(t *testing.T) {
	var b strings.Builder
	for _, v := range []any{
		map[string]any{"path": "a<b>&c", "n": json.RawMessage("1e400")},
		json.RawMessage("{\"digits\": 9007199254740993,\n \"x\": \"\x7f\u009b\u202e\xff\U000e0041é\"}"),
		[]string{"\x1b[2J", "\u2028", "line\nbreak"},
	} {
		if err := JSON(&b, v); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"n":1e400,"path":"a<b>&c"}
{"digits":9007199254740993,"x":"\u007f\u009b\u202e\ufffd\udb40\udc41é"}
["\u001b[2J","\u2028","line\nbreak"]
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestJSONErrors(t *testing.T) {
	var b strings.Builder
	for _, v := range []any{json.RawMessage(`{"a":`), func() {}} {
		if err := JSON(&b, v); err == nil || b.Len() > 0 {
			t.Errorf("%T: error %v, written %q", v, err, b.String())
		}
	}
	if err := JSON(brokenWriter{}, 1); !errors.Is(err, errBroken) {
		t.Errorf("a broken writer: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestProblem(t *testing.T) {
	p := Problem{"not-found", "no checkpoint \"7\"\nin session \"demo\"", []string{"try: 3", "or\nlist"}}
	var b strings.Builder
	if err := p.Text(&b, Coloured); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1;31merror:\x1b[0m no checkpoint \"7\"\n\x1b[1;31merror:\x1b[0m in session \"demo\"\n" +
		"\x1b[33mhint:\x1b[0m try: 3\n\x1b[33mhint:\x1b[0m or\n\x1b[33mhint:\x1b[0m list\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	for _, p := range []Problem{p, {Kind: "failed"}} {
		if err := p.JSON(&b); err != nil {
			t.Fatal(err)
		}
	}
	want = `{"error":{"kind":"not-found","message":"no checkpoint \"7\"\nin session \"demo\"","hints":["try: 3","or\nlist"]}}
{"error":{"kind":"failed","message":"","hints":[]}}
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

// What is shown differently still means the same.
func TestJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sameMeaning(t, hostileText().Draw(t, "text"))
	})
}

func FuzzJSON(f *testing.F) {
	f.Add("\x1b \u009b \x9b \u2028 \U000e0041 \U0001f642")
	f.Fuzz(func(t *testing.T, s string) { sameMeaning(t, s) })
}

type failer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func sameMeaning(t failer, s string) {
	var b strings.Builder
	if err := JSON(&b, map[string]string{s: s}); err != nil {
		t.Fatal(err)
	}
	line, ended := strings.CutSuffix(b.String(), "\n")
	if !ended {
		t.Fatal("the line does not end")
	}
	// Many combining marks in a row are content here, not layout: JSON must keep all of them.
	if bad := firstBad(line); bad != "" && bad != "a pile of marks" {
		t.Fatalf("%s in %q", bad, line)
	}
	var got, want map[string]string
	plain, err := json.Marshal(map[string]string{s: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}
