package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The record of docs/format.md has its members in the documented order, indented,
// with a newline at the end.
func TestMarshalExample(t *testing.T) {
	want, err := os.ReadFile("testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(sealed(t, example()))); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// What is written is read back, and written again it is the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord().Draw(t, "record")
		data, err := Seal(r, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range string(data) {
			if c != '\n' && isControl(c) || isDirection(c) {
				t.Fatalf("raw control character %U in %s", c, data)
			}
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if err := Verify(got, data); err != nil {
			t.Fatal(err)
		}
		again, err := got.Marshal(Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), string(again)); diff != "" {
			t.Fatal(diff)
		}
		if diff(r.State, got.State) != nil || diff(r.Error, got.Error) != nil {
			t.Fatalf("state %s became %s, error %s %s", r.State, got.State, r.Error, got.Error)
		}
		for _, r := range []*Record{r, got} {
			r.State, r.Error, r.Extra = nil, nil, nil
		}
		if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Numbers keep their digits, and members of a later version stay where they were.
func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	r := example()
	r.State = json.RawMessage(`{"n": 9007199254740993, "f": 1.50, "e": 1E400}`)
	text := string(sealed(t, r))
	for _, at := range []string{`"git": {`, `"files": {`, `"snapshot": {`, `"workflow": {`, `"architecture": {`, "{"} {
		text = strings.Replace(text, at, at+`"later": {"x": [1.00, null]},`, 1)
	}
	parsed, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	data := sealed(t, parsed)
	if n := bytes.Count(data, []byte("1.00")); n != 6 {
		t.Errorf("%d of 6 unknown members kept:\n%s", n, data)
	}
	for _, digits := range []string{"9007199254740993", "1.50", "1E400"} {
		if !bytes.Contains(data, []byte(digits)) {
			t.Errorf("digits %s are lost", digits)
		}
	}
}

// Equal records give equal bytes, however many unknown members they have.
func TestMarshalIsDeterministic(t *testing.T) {
	r := example()
	r.Extra = make(map[string]json.RawMessage)
	for _, name := range strings.Split("qwertyuiopasdfghjklzxcvbnm", "") {
		r.Extra[name] = json.RawMessage("1")
		r.Outputs[name] = Output{}
	}
	first := sealed(t, r)
	for range 20 {
		if again := sealed(t, r); !bytes.Equal(first, again) {
			t.Fatal("other bytes the second time")
		}
	}
}

// What Parse refuses, and what it says of it.
func TestParseRefuses(t *testing.T) {
	good := string(sealed(t, example()))
	tests := []struct{ name, data, want string }{
		{"nothing", "", "line 1, offset 0: not JSON: unexpected end"},
		{"null", " null", "line 1, offset 1: expected an object here, not null"},
		{"array", "[]", "expected an object here"},
		{"cut", good[:50], "not JSON: unexpected end"},
		{"two values", good + "{}", "not JSON: invalid character '{' after top-level value"},
		{"syntax", "{\n\"a\": tru}", "line 2, offset 10: not JSON"},
		{"bytes", "{\"a\":\n\"\xff\"}", "line 2, offset 7: not UTF-8"},
		{"byte order mark", "\ufeff{}", "not JSON"},
		{"brackets", strings.Repeat("[", 200_000), "line 1, offset 101: nested more than 101 deep"},
		{"objects", strings.Repeat(`{"a":`, 200_000), "nested more than 101 deep"},
		{"deep state", edit(good, `"phase": "architecture"`, `"a":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)), "nested more than 101 deep"},
		{"twice", edit(good, `"id"`, `"step": 3, "id"`), `at "step": a second member of this name`},
		{"twice inside", edit(good, `"topic"`, `"metrics": 1, "t\u006fpic": 1, "topic"`), `at "state.topic": a second member`},
		{"surrogate", edit(good, `"API first"`, `"\ud800 \udc00"`), `at "message": text with half of a surrogate pair`},
		{"surrogate order", edit(good, `"API first"`, `"\uDC00\uD800"`), "half of a surrogate pair"},
		{"surrogate name", edit(good, `"topic"`, `"\udfff"`), "half of a surrogate pair"},
		{"no format", edit(good, `"format"`, `"fomat"`), `at "format": this member is required`},
		{"format 0", edit(good, `"format": 1`, `"format": 0`), "expected a format number here, not 0"},
		{"format text", edit(good, `"format": 1`, `"format": "1"`), "line 2, offset 14, at \"format\""},
		{"no id", edit(good, `"id"`, `"idd"`), `at "id": this member is required`},
		{"id", edit(good, "cp-03-20261120T094311123Z-4f2a", "../../../x"), `line 3, offset 25, at "id": not a checkpoint id`},
		{"session", edit(good, `"demo"`, `"a/../b"`), `at "session": invalid session name`},
		{"session null", edit(good, `"demo"`, `null`), `expected a string here, not null`},
		{"label", edit(good, `"cp-03-architecture"`, `"cp-03\nx"`), "not a label"},
		{"step", edit(good, `"step": 3`, `"step": 3.0`), `at "step": expected an integer here, not 3.0`},
		{"step negative", edit(good, `"step": 3`, `"step": -3`), "out of range"},
		{"milestone", edit(good, `"milestone": true`, `"milestone": null`), "expected true or false"},
		{"time", edit(good, "2026-11-20T09:43:11.123Z", "yesterday"), "not an RFC 3339 time"},
		{"previous", edit(good, "cp-02-20261120T093005456Z-b01c", "x"), `at "previous": not a checkpoint id`},
		{"outputs", edit(good, `"lines": 120`, `"lines": "120"`), `at "outputs.architecture.lines": expected an integer here`},
		{"oid", edit(good, `"tree": "a1`, `"tree": "A1`), `at "snapshot.tree": not an object id`},
		{"list", edit(good, `"go.mod"`, `3`), `at "git.staged.0": expected a path here, not 3`},
		{"encoding", edit(good, `"go.mod"`, `{"path": "a%FF", "encoding": "base64"}`), `at "git.staged.0.encoding"`},
		{"encoded", edit(good, `"go.mod"`, `{"path": "a%41%FF", "encoding": "percent"}`), "encoded needlessly"},
		{"counts", edit(good, `      1,`, ``), `at "files.counts": expected 3 numbers here, not 2`},
		{"checksum", edit(good, `"sha256:`, `"md5:`), "a checksum is sha256:"},
	}
	for _, tt := range tests {
		_, err := Parse([]byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "parsing record: ") {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%s: an error of %d bytes", tt.name, len(err.Error()))
		}
	}
}

// A newer format is reported as such, whatever its members are, and not as a damaged record.
func TestParseLaterFormat(t *testing.T) {
	for _, format := range []string{"2", "99999999999999999999999"} {
		_, err := Parse([]byte(`{"id": 7, "format": ` + format + `}`))
		var later *FormatError
		if !errors.As(err, &later) || !strings.HasPrefix(later.Format, format[:1]) || !strings.Contains(err.Error(), "format "+format[:1]) {
			t.Errorf("format %s: %v", format, err)
		}
	}
}

func TestLimits(t *testing.T) {
	data := sealed(t, example())
	data = append(data, bytes.Repeat([]byte(" "), MaxSize-len(data))...)
	_, err := Parse(append(data, ' '))
	if size := (*SizeError)(nil); !errors.As(err, &size) || size.Size != MaxSize+1 {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := Parse(data); err != nil {
		t.Errorf("as large as allowed: %v", err)
	}
	if _, err := example().Marshal(Limits{Size: 100}); !errors.As(err, new(*SizeError)) {
		t.Errorf("writing more than allowed: %v", err)
	}
}

// A record that could not be read back is not written.
func TestMarshalRefuses(t *testing.T) {
	tests := []struct {
		change func(*Record)
		want   string
	}{
		{func(r *Record) { r.ID = "x" }, `member "id": not a checkpoint id`},
		{func(r *Record) { r.Format = 2 }, "format 2"},
		{func(r *Record) { r.Message = "\xff" }, `member "message": "\xff" is not UTF-8`},
		{func(r *Record) { r.State = json.RawMessage("{") }, `member "state": not JSON`},
		{func(r *Record) { r.State = json.RawMessage("\"\u009b\xff\"") }, `member "state": not JSON`},
		{func(r *Record) { r.State = json.RawMessage(`{"a":1,"a":2}`) }, "a second member"},
		{func(r *Record) { r.Extra = map[string]json.RawMessage{"id": nil} }, "a known member among the unknown"},
		{func(r *Record) { r.Git.Worktrees[0].Head = "x" }, `member "git.worktrees.0.head"`},
		{func(r *Record) { r.CreatedAt = r.CreatedAt.AddDate(9000, 0, 0) }, "RFC 3339"},
	}
	for _, tt := range tests {
		r := example()
		tt.change(r)
		if _, err := Seal(r, Limits{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestNewFiles(t *testing.T) {
	var many []Path
	for i := range 1500 {
		many = append(many, Path(strings.Repeat("x", 1500-i)))
	}
	f := NewFiles(many, []Path{"b", "a"}, nil)
	if len(f.Created) != MaxListed || f.Created[0] != "x" || f.Counts != [3]int{1500, 2, 0} || !f.Truncated || f.Modified[0] != "a" || f.Total() != 1502 {
		t.Errorf("%d listed, %v, %v", len(f.Created), f.Counts, f.Modified)
	}
	if len(many[0]) != 1500 || NewFiles(many[:1000], nil, nil).Truncated {
		t.Error("the given list was sorted, or one of 1,000 was cut")
	}
}

func edit(text, old, new string) string {
	if !strings.Contains(text, old) {
		panic("no " + old)
	}
	return strings.Replace(text, old, new, 1)
}
