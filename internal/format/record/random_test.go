package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
)

// randomDigest is the digest of what 1,000 random records are written as, and of which are refused. It is that
// of all versions since 2026-11-27: records are signed and compared by their bytes.
const randomDigest = "a189fc55e231d762e2f36f95d6306c1742d066ccd3b72b61c015c6a925241c5a"

// The same text is read, or refused, and written with the same bytes as by earlier versions.
func TestRandomRecordsAsBefore(t *testing.T) {
	digest, read := sha256.New(), 0
	for n := range uint64(1000) {
		text := randomRecord(n, n%2 == 0)
		written, err := rewritten(text, n)
		if err == nil {
			read++
		}
		fmt.Fprintf(digest, "%v %d %s", err == nil, len(written), written)
	}
	if read < 500 || read > 800 {
		t.Errorf("%d of 1,000 records can be read, which are too many or too few to say much", read)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != randomDigest {
		t.Errorf("1,000 records have the digest %s", got)
	}
}

// rewritten returns what a record is written as, as a file and as a part of an answer, and then again after
// a program put any values into it.
func rewritten(text []byte, seed uint64) ([]byte, error) {
	r, err := Parse(text)
	if err != nil {
		return nil, err
	}
	file, err := r.Marshal(Limits{})
	if err != nil {
		return []byte(" not written"), nil //nolint:nilerr // it was read
	}
	answer, _ := json.Marshal(r)
	random{rand.New(rand.NewPCG(seed, 2)), false}.spoil(r)
	spoilt, err := Seal(r, Limits{})
	return bytes.Join([][]byte{file, answer, fmt.Append(nil, err == nil), spoilt}, []byte("\n")), nil
}

// What is read is written: nothing is lost, and no number loses a digit.
func TestRandomRecordsKeepAll(t *testing.T) {
	for n := range uint64(300) {
		text := randomRecord(n, false)
		r, err := Parse(text)
		if err != nil {
			t.Fatalf("%d: %v\n%s", n, err, text)
		}
		data, err := r.Marshal(Limits{})
		if err != nil {
			t.Fatalf("%d: %v\n%s", n, err, text)
		}
		before, after := generic(t, text), generic(t, data)
		// Times and paths have one spelling; members that were missing have a value now.
		before["created_at"] = after["created_at"]
		if diff := cmp.Diff(kept(before, after), after); diff != "" {
			t.Fatalf("%d (-read +written): %s\n%s", n, diff, text)
		}
	}
}

func generic(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// kept adds to before the members that are empty in after, and takes away those that are left out if they are empty.
func kept(before, after any) any {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for name, value := range a {
			if had, has := b[name]; has {
				b[name] = kept(had, value)
			} else if isEmpty(value) {
				b[name] = value
			}
		}
		for name, value := range b {
			if _, has := a[name]; !has && isEmpty(value) {
				delete(b, name)
			}
		}
	case []any:
		a, _ := after.([]any)
		for i := range min(len(a), len(b)) {
			b[i] = kept(b[i], a[i])
		}
	case json.Number, string:
		if (b == json.Number("-0") && after == json.Number("0")) || (b == "" && after == nil) {
			return after
		}
	}
	return before
}

// isEmpty reports whether a value is that of a member that was not given.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !isEmpty(value) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0 || len(v) == 3 && isEmpty(v[0]) && isEmpty(v[1]) && isEmpty(v[2])
	}
	return v == nil || v == "" || v == false || v == json.Number("0") || v == json.Number("-0")
}

// random makes texts of records. Wild ones break a rule, here and there.
type random struct {
	*rand.Rand
	wild bool
}

func randomRecord(seed uint64, wild bool) []byte {
	r := random{rand.New(rand.NewPCG(seed, 1)), wild}
	text := r.record()
	if wild && r.IntN(8) == 0 { // any bytes
		at := r.IntN(len(text))
		return append(text[:at:at], append([]byte(r.of("", "\xff", ",", "}", "]", `"`, `\`, "\x00", "{", "1", "\ufeff", "null")), text[at+r.IntN(2):]...)...)
	}
	return text
}

func (r random) of(words ...string) string { return words[r.IntN(len(words))] }

// some calls one n times and returns the results.
func (r random) some(n int, one func() string) (all []string) {
	for range r.IntN(n + 1) {
		all = append(all, one())
	}
	return all
}

func (r random) space() string { return r.of("", "", "", " ", "\n", "\t\r\n ") }

// text makes a text that may be in any language or could break out of what is around it.
func (r random) text() string {
	return strings.Join(r.some(3, func() string {
		if r.IntN(3) > 0 {
			return r.of(hostile...)
		}
		c := rune(r.IntN([]int{0x20, 0x80, 0x800, 0x10000, 0x110000}[r.IntN(5)]))
		if !utf8.ValidRune(c) {
			c = '\ufffd'
		}
		return string(c)
	}), "")
}

// quote spells a text in one of its many forms.
func (r random) quote(text string) string {
	switch r.IntN(6) {
	case 0:
		return escapeAll(text)
	case 1:
		data, _ := json.Marshal(text)
		return string(data)
	}
	return string(appendText(nil, text))
}

func (r random) word() string { return r.quote(r.text()) }

func (r random) hex(n int) string {
	digits := make([]byte, n)
	for i := range digits {
		digits[i] = "0123456789abcdef"[r.IntN(16)]
	}
	return string(digits)
}

func (r random) oid() string {
	return r.of("null", r.quote(r.hex(40)), r.quote(r.hex(64)))
}

func (r random) id() string {
	return r.quote(fmt.Sprintf("cp-%02d-%08dT%09dZ-%s", r.IntN(1000), r.IntN(1e8), r.IntN(1e9), r.hex(4)))
}

func (r random) number() string {
	return r.of("0", "1", "7", "42", "1000", "-0", "999999999", fmt.Sprint(r.IntN(1e6)))
}

func (r random) flag() string { return r.of("true", "false") }

func (r random) path() string {
	if r.IntN(4) > 0 {
		return r.word()
	}
	given := Path(r.text() + r.of("\xff", "\x80", "\xc3", "%\xfe"))
	text, _ := EncodePath(given)
	return r.object(r.member("path", r.quote(text)), r.member("encoding", `"percent"`))
}

func (r random) list(n int, one func() string) string {
	return "[" + r.space() + strings.Join(r.some(n, one), r.space()+","+r.space()) + r.space() + "]"
}

// value is any JSON, with digits that a number in Go would lose.
func (r random) value(depth int) string {
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return r.list(3, func() string { return r.value(depth - 1) })
		case 1:
			return r.later(depth-1, 3)
		}
	}
	return r.of("null", "true", "false", r.word(), r.word(), "1.50", "-0", "1e400", "9007199254740993", "1E+2", "123456789012345678901234567890.0", "{}", "[]")
}

// later is an object of members that no version knows.
func (r random) later(depth, n int) string {
	return r.object(r.unknown(depth, n)...)
}

// named takes out of a name the characters that earlier versions spelled as they spell them in a text, \u000d,
// and that this one spells \r.
func named(text string) string {
	return strings.NewReplacer("\b", "", "\f", "", "\r", "").Replace(text)
}

func (r random) unknown(depth, n int) []string {
	return r.some(n, func() string {
		return r.member(r.of("later", "ID", "Format", "x", "path_", "encodings", named(r.text()))+r.of("", "1", "2", "é"), r.value(depth))
	})
}

// member makes a member of an object, often none, and in wild records one that breaks a rule.
func (r random) member(name, value string) string {
	if r.wild && r.IntN(120) == 0 {
		value = r.of("null", "true", "3", "-1", "3.0", "1e2", "-0", `""`, `"x"`, "[]", "{}", "[null]", `[""]`, `{"path":"a"}`, `{"path":"%FF","encoding":"percent"}`,
			`{"path":"a","encoding":"percent"}`, `{"path":"%ff","encoding":"percent"}`, `{"encoding":"percent"}`, `{"path":"%FF","encoding":"base64"}`, `{"path":null}`, `{"path":""}`,
			`{"path":"a","later":1}`, "1000000000", "2147483648", "9223372036854775807", "9223372036854775808", `"\ud800"`, `"\udc00\ud800"`, `"0644"`, `{"a":"0644"}`, `{"%FF":"0644"}`, `{"a":null}`,
			`{"a":"1"}`, `{"operation":null}`, `{"previous":null}`, `"2026-11-20T09:43:11Z"`, `"0001-01-01T00:00:00Z"`, `"2026-11-20T09:43:11.1234567+02:00"`, `"9999-12-31T23:59:59-01:00"`, "tru", "[1,2,3]", "[1,2]", "[0,0,0,0]",
			`[1,-2,3]`, r.id(), r.oid(), r.value(2), r.path(), strings.Repeat("[", 101)+strings.Repeat("]", 101))
	}
	spelled := r.quote(name) + r.space() + ":" + r.space() + value
	if r.wild && r.IntN(400) == 0 { // a second one
		return spelled + "," + r.quote(name) + ":" + value
	}
	return spelled
}

// object shuffles members and drops some.
func (r random) object(members ...string) string {
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var seen []string
	names := map[string]bool{}
	for _, m := range members {
		var name string
		if end := quoted([]byte(m)); json.Unmarshal([]byte(m[:end]), &name) != nil || names[name] || r.wild && r.IntN(300) == 0 {
			continue
		}
		names[name] = true
		seen = append(seen, m)
	}
	return "{" + r.space() + strings.Join(seen, r.space()+","+r.space()) + r.space() + "}"
}

// maybe leaves members out that need not be there.
func (r random) maybe(members ...string) (some []string) {
	for _, m := range members {
		if r.IntN(6) > 0 {
			some = append(some, m)
		}
	}
	return append(some, r.unknown(2, 2)...)
}

func (r random) record() []byte {
	label := fmt.Sprintf("cp-%02d%s", r.IntN(100), r.of("", "-a", ".x_Y", "+2", strings.Repeat("z", 120)))
	created := time.UnixMicro(r.Int64N(4e15)).In(time.FixedZone("", 60*r.IntN(1000))).Format(time.RFC3339Nano)
	members := r.maybe(
		r.member("step", r.number()), r.member("step_name", r.word()), r.member("iteration", r.quote(r.of("", "2", "final"))),
		r.member("milestone", r.flag()), r.member("trigger", r.word()), r.member("status", r.word()), r.member("message", r.word()), r.member("topic", r.word()),
		r.member("workflow", r.object(r.maybe(r.member("name", r.word()), r.member("version", r.word()))...)),
		r.member("previous", r.of("null", r.id())), r.member("rebuilt_from", r.id()),
		r.member("state", r.value(4)), r.member("outputs", r.outputs()), r.member("error", r.value(2)),
		r.member("git", r.git()), r.member("files", r.files()), r.member("snapshot", r.snapshot()),
		r.member("checksum", r.quote("sha256:"+r.hex(64))))
	members = append(members, r.member("format", "1"), r.member("id", r.id()), r.member("label", r.quote(label)),
		r.member("session", r.quote(r.of("a", "demo-1.x", "A_b"))), r.member("created_at", r.quote(created)))
	return []byte(r.space() + r.object(members...) + r.space())
}

func (r random) outputs() string {
	return r.object(r.some(3, func() string {
		return r.member(r.of("a", "tree", "b.md", "previous", "operation", "x-1"), r.object(r.maybe(r.member("path", r.path()), r.member("source", r.path()), r.member("oid", r.oid()),
			r.member("size", r.number()), r.member("lines", r.number()), r.member("entries", r.number()))...))
	})...)
}

func (r random) git() string {
	worktree := func() string {
		return r.object(r.maybe(r.member("name", r.path()), r.member("branch", r.of("null", r.path())), r.member("head", r.oid()))...)
	}
	return r.object(r.maybe(r.member("branch", r.of("null", r.path())), r.member("head", r.oid()), r.member("detached", r.flag()), r.member("operation", r.of("null", r.word())),
		r.member("worktree", r.path()), r.member("worktrees", r.list(3, worktree)), r.member("index", r.oid()), r.member("staged", r.list(3, r.path)), r.member("unmerged", r.list(3, r.path)),
		r.member("intent_to_add", r.list(2, r.path)), r.member("assume_unchanged", r.list(2, r.path)), r.member("sparse_present", r.list(2, r.path)))...)
}

func (r random) files() string {
	counts := "[" + r.number() + "," + r.space() + r.number() + "," + r.number() + "]"
	return r.object(r.maybe(r.member("created", r.list(3, r.path)), r.member("modified", r.list(3, r.path)), r.member("deleted", r.list(3, r.path)),
		r.member("counts", counts), r.member("truncated", r.flag()))...)
}

func (r random) snapshot() string {
	listed := func() string {
		path := []string{r.member("path", r.word())}
		if r.IntN(3) == 0 {
			path = []string{r.member("path", r.quote(r.of("%FF", "a%25%80"))), r.member("encoding", `"percent"`)}
		}
		return r.object(append(r.maybe(r.member("reason", r.word()), r.member("size", r.number())), path...)...)
	}
	mode := func() string { return r.quote(r.of("0600", "0644", "04755")) }
	return r.object(r.maybe(r.member("tree", r.oid()), r.member("complete", r.flag()), r.member("skipped", r.list(3, listed)),
		r.member("modes", r.object(r.some(3, func() string { return r.member(r.of("operation", "tree", named(r.text())), mode()) })...)),
		r.member("modes_percent", r.object(r.some(3, func() string { return r.member(r.of("%FF", "a%25%80", "é%C3"), mode()) })...)),
		r.member("raw", r.list(3, r.path)), r.member("at_risk", r.list(2, listed)))...)
}

// spoil puts a value into a record that its writer must refuse, or may not.
func (r random) spoil(to *Record) {
	text := r.of("", "x", "\xff", "\r\b\f\x00\x7f", "cp-01", "é", "null", "a\xffb%", "..", "0644", strings.Repeat("a1", 20))
	raw := json.RawMessage(r.of("", "null", "{", `{"a":1,"a":2}`, ` { "a" : 1.50 } `, `"\u00e9\/\r"`, "\"\xff\"", `"\ud800"`, "1 2", strings.Repeat("[", 101)+strings.Repeat("]", 101)))
	extra := map[string]json.RawMessage{r.of("later", "id", "checksum", "path", "name", "head", "tree", "created", "size", "encoding", named(text)): raw, "z": raw}
	number := []int{0, -1, 5, 1_000_000_000, 1 << 40}[r.IntN(5)]
	[]func(){
		func() { to.ID = name.ID(text) }, func() { to.Label = text }, func() { to.Session = name.Session(text) }, func() { to.Step = number }, func() { to.StepName = text },
		func() { to.Iteration = text }, func() { to.Message = text }, func() { to.Topic = text }, func() { to.CreatedAt = time.Time{} }, func() { to.CreatedAt = to.CreatedAt.AddDate(number, 0, 0) },
		func() { to.Workflow.Version = text }, func() { to.Workflow.Extra = extra }, func() { to.Previous = name.ID(text) }, func() { to.RebuiltFrom = name.ID(text) },
		func() { to.State = raw }, func() { to.Error = raw }, func() { to.Outputs = map[string]Output{text: {OID: name.OID(text)}} },
		func() { to.Outputs = map[string]Output{"a": {Path: Path(text), Size: int64(number), Entries: &number}} },
		func() { to.Outputs = map[string]Output{"a": {Lines: number, Extra: extra}} }, func() { to.Git.Branch = Path(text) }, func() { to.Git.Head = name.OID(text) },
		func() { to.Git.Operation = text }, func() { to.Git.Worktree = Path(text) }, func() { to.Git.Staged = []Path{Path(text), ""} }, func() { to.Git.Extra = extra },
		func() {
			to.Git.Worktrees = []Worktree{{Name: Path(text), Branch: Path(text), Head: name.OID(text), Extra: extra}}
		},
		func() { to.Files.Counts = [3]int{number, 1, 2} }, func() { to.Files.Created = []Path{Path(text)} }, func() { to.Files.Extra = extra },
		func() { to.Snapshot.Tree = name.OID(text) }, func() { to.Snapshot.Modes = map[Path]string{Path(named(text)): "0644", "b": "04755"} },
		func() { to.Snapshot.Modes = map[Path]string{"a": text} }, func() { to.Snapshot.Raw = []Path{Path(text)} },
		func() { to.Snapshot.Skipped = []Skipped{{Path: Path(text), Reason: text, Size: int64(number)}} }, func() { to.Snapshot.AtRisk = []AtRisk{{Path(text), text, extra}} },
		func() { to.Snapshot.Extra = extra }, func() { to.Extra = extra }, func() { to.Format = number },
		func() { to.Snapshot.Skipped, to.Snapshot.AtRisk, to.Snapshot.Raw = []Skipped{}, []AtRisk{}, []Path{} },
	}[r.IntN(39)]()
}
