package record

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// apartOf takes a text apart; false where that takes more than one pass.
func apartOf(text []byte) (*apart, bool) {
	a := new(apart)
	err := a.take(text, Limits{}.orDefault(MaxDepth))
	return a, err == nil && len(a.nodes) > 0
}

// Taken apart or looked through, a text has the same canonical form.
func TestFormOfApart(t *testing.T) {
	apart, whole := &canonical{number: checksumNumber, drop: "checksum"}, &canonical{number: checksumNumber, drop: "checksum"}
	taken := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(spell(rt, map[string]any{"v": genValue(4).Draw(rt, "value"), "checksum": "a", "w": map[string]any{"checksum": "b"}}))
		want, wantErr := whole.canonicalize(text)
		a, ok := apartOf(text)
		if ok {
			taken++
		}
		got, err := apart.form(a, text)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			rt.Fatalf("%v %v\ngot  %s\nwant %s", err, wantErr, got, want)
		}
	})
	if taken == 0 {
		t.Error("nothing was taken apart")
	}
}

// Taken apart or looked through, a record says the same, or is refused at the same place;
// one that is too long to be taken apart is the same with blanks behind it.
func TestReadApart(t *testing.T) {
	data, err := Seal(example(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := apartOf(data); !ok {
		t.Error("a record is not taken apart")
	}
	blanks := bytes.Repeat([]byte(" "), maxApart)
	rapid.Check(t, func(rt *rapid.T) {
		text := slices.Clone(data)
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			i := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
			piece := rapid.SampledFrom([]string{"0", "9", "a", "n", "\"", "[", "}", ",", ":", " ", `\u0061`, `\n`, "{}", "[]", "null", "true", "1e2", `"x":1,`, "\x80"}).Draw(rt, "piece")
			text = slices.Replace(text, i, min(len(text), i+rapid.IntRange(0, 1).Draw(rt, "less")), []byte(piece)...)
		}
		got, gotChanged, gotErr := ParseSealed(text, Limits{})
		want, wantErr := Parse(slices.Concat(text, blanks), Limits{})
		var gotAt, wantAt *JSONError
		if (gotErr == nil) != (wantErr == nil) || errors.As(gotErr, &gotAt) != errors.As(wantErr, &wantAt) {
			rt.Fatalf("%v, and %v\n%s", gotErr, wantErr, text)
		}
		if gotAt != nil && (gotAt.Path != wantAt.Path || gotAt.Reason != wantAt.Reason && !gotAt.syntax) {
			rt.Fatalf("%v, and %v\n%s", gotErr, wantErr, text)
		}
		if gotErr != nil {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s\n%s", diff, text)
		}
		if wantChanged := Verify(want, text); (gotChanged == nil) != (wantChanged == nil) {
			rt.Fatalf("%v, and %v\n%s", gotChanged, wantChanged, text)
		}
	})
}
