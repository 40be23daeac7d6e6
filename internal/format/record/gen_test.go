package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"pgregory.net/rapid"
)

// hostile has texts that could break out of some surrounding text.
var hostile = []string{
	"", " ", "\n", "\n\n", "\r\n", "\x00", "\x1b[31m", "\u009b2J", "\u202e", "ü", "日本", "💾", "<&>", `"`, `\`, ":", "-", "+",
	"# ------------------------ >8 ------------------------\n", "-- >8 --\n", "---\n", "-----BEGIN PGP SIGNATURE-----\n", "gpgsig x\n",
	"Checkpoint-Id: cp-99-20261120T094311123Z-ffff\n", "\nCheckpoint-Record: sha256:" + strings.Repeat("0", 64) + "\n", "checkpoint-step: 9",
	"\n\nCheckpoint-Session: evil\nCheckpoint-Step: 9\n", "Signed-off-by: x", "Topic: t\n", "Metrics:\n", "Files changed: none\n", "    ", "\t", "word ",
	"a.b", "#", "*", "?", "|", "@this", "!", "[0]", "{a", "0", "-1", ":1", "id", "~true", "#(id==\"x\")", ".", "a", "b", "c", "%FF",
}

// genText makes a text of any such pieces.
func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 5, 20)), 0, 5).Draw(t, "text"), "")
	})
}

// number is a JSON number as it is spelled.
type number string

func genNumber() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		return number(rapid.SampledFrom([]string{
			"0", "1", "10", "-7", "3", "0.5", "1.25", "-0.1", "123456789012345", "9007199254740992", "9007199254740993",
			"9007199254740994", "1e400", "1e401", "-1e400", "1e-400", "0.1000000000000000055511151231257827", "1e21", "5e-324", "333333333.3333333",
			"1e9999999999999999999999",
		}).Draw(t, "number"))
	})
}

// genValue makes a JSON value of map, slice, string, bool, nil and number.
func genValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		genNumber(), genText().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			return rapid.MapOfN(genText(), genValue(depth-1), 0, 4).Draw(t, "object")
		case 2:
			return rapid.SliceOfN(genValue(depth-1), 0, 4).Draw(t, "array")
		case 3:
			return genTasks(depth).Draw(t, "tasks")
		}
		return rapid.OneOf(scalars...).Draw(t, "scalar")
	})
}

// genTasks makes an array of objects that mostly have an id.
func genTasks(depth int) *rapid.Generator[any] {
	id := rapid.OneOf(genText().AsAny(), rapid.SampledFrom([]any{"k1", "k2", "k3", number("1"), number("2"), true}))
	task := rapid.Custom(func(t *rapid.T) any {
		o := rapid.MapOfN(rapid.SampledFrom([]string{"status", "a.b", ""}), genValue(depth-1), 0, 2).Draw(t, "task")
		if rapid.IntRange(0, 9).Draw(t, "with id") > 0 {
			o["id"] = id.Draw(t, "id")
		}
		return o
	})
	return rapid.SliceOfN(task, 0, 4).AsAny()
}

// spell writes a value in one of its many forms: any order of members, any
// whitespace, escapes where none are needed, numbers another way.
func spell(t *rapid.T, v any) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, k := range rapid.Permutation(sortedKeys(v)).Draw(t, "order") {
			parts = append(parts, spell(t, k)+space()+":"+spell(t, v[k]))
		}
		return space() + "{" + strings.Join(parts, ",") + space() + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, spell(t, e))
		}
		return "[" + space() + strings.Join(parts, ",") + "]" + space()
	case number:
		return spellNumber(t, string(v))
	case string:
		if rapid.Bool().Draw(t, "escape") {
			return escapeAll(v)
		}
		return string(appendText(nil, v))
	default:
		data, _ := json.Marshal(v)
		return string(data)
	}
}

func spellNumber(t *rapid.T, n string) string {
	forms := []string{n}
	if FitsDouble(n) && !strings.ContainsAny(n, ".eE") {
		forms = append(forms, n+".0", n+"e0", n+".0E-0", n+".000e+00")
		if n != "0" {
			forms = append(forms, n+"0E-1")
		}
	}
	if n == "0" {
		forms = append(forms, "-0", "0e999", "-0.0")
	}
	return rapid.SampledFrom(forms).Draw(t, "form")
}

func escapeAll(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r > 0xffff {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String() + `"`
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range members([]byte(plain(m))) {
		keys = append(keys, k)
	}
	return keys
}

// plain writes a value in one form, members in the order of their names.
func plain(v any) string {
	if n, ok := v.(number); ok {
		return string(n)
	}
	data, err := json.Marshal(numbers(v))
	if err != nil {
		panic(err)
	}
	return string(data)
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := make(map[string]any)
		for k, e := range v {
			o[k] = numbers(e)
		}
		return o
	case []any:
		a := make([]any, len(v))
		for i, e := range v {
			a[i] = numbers(e)
		}
		return a
	case number:
		return json.Number(v)
	}
	return v
}

func genPath() *rapid.Generator[Path] {
	return rapid.Custom(func(t *rapid.T) Path {
		text := genText().Draw(t, "path")
		if rapid.IntRange(0, 3).Draw(t, "bytes") == 0 {
			text += string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "tail"))
		}
		return Path("p" + text)
	})
}

// genRecord makes a record with every member, hostile where a text is free.
func genRecord() *rapid.Generator[*Record] {
	return rapid.Custom(func(t *rapid.T) *Record {
		r := example()
		r.Step = rapid.IntRange(0, 200).Draw(t, "step")
		r.ID = name.NewID(r.Step, time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "ms")), rapid.Uint16().Draw(t, "random"))
		r.CreatedAt = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "created")).UTC()
		r.StepName = genText().Draw(t, "step name")
		r.Iteration = rapid.SampledFrom([]string{"", "2", "final"}).Draw(t, "iteration")
		r.Label = name.Label(r.Step, r.StepName, r.Iteration)
		if r.Milestone = rapid.Bool().Draw(t, "milestone"); !r.Milestone {
			r.Label += "+2"
		}
		r.Trigger = genText().Draw(t, "trigger")
		r.Status = genText().Draw(t, "status")
		r.Message = genText().Draw(t, "message")
		r.Topic = genText().Draw(t, "topic")
		r.State = json.RawMessage(plain(genValue(2).Draw(t, "state")))
		if rapid.Bool().Draw(t, "error") {
			r.Error = json.RawMessage(plain(genText().Draw(t, "error text")))
		}
		r.Files = NewFiles(genPaths(t), genPaths(t), genPaths(t))
		r.Git.Branch = genPath().Draw(t, "branch")
		r.Snapshot.Raw = genPaths(t)
		r.Snapshot.Modes = rapid.MapOfN(genPath(), rapid.SampledFrom([]string{"0600", "04755"}), 1, 3).Draw(t, "modes")
		r.Snapshot.Skipped = []Skipped{{Path: genPath().Draw(t, "skipped"), Reason: genText().Draw(t, "reason"), Size: 5}}
		r.Extra = map[string]json.RawMessage{"later " + genText().Draw(t, "extra"): json.RawMessage(plain(genValue(1).Draw(t, "extra value")))}
		return r
	})
}

func genPaths(t *rapid.T) []Path { return rapid.SliceOfN(genPath(), 1, 3).Draw(t, "paths") }

// example is the record of docs/format.md.
func example() *Record {
	oid := name.OID(strings.Repeat("a1", 20))
	return &Record{
		Format: 1, ID: "cp-03-20261120T094311123Z-4f2a", Label: "cp-03-architecture", Session: "demo",
		Step: 3, StepName: "architecture", Milestone: true, Trigger: "phase_transition", Status: "in_progress",
		Message: "API first", CreatedAt: time.Date(2026, 11, 20, 9, 43, 11, 123e6, time.UTC),
		Workflow: Workflow{Name: "go-team", Version: "1"}, Previous: "cp-02-20261120T093005456Z-b01c",
		State:    json.RawMessage(`{"topic":"todo service","phase":"architecture","metrics":{"build_pass":false}}`),
		Outputs:  map[string]Output{"architecture": {Path: "outputs/architecture", Source: "docs/arch.md", OID: oid, Size: 4312, Lines: 120}},
		Git:      Git{Branch: "refs/heads/main", Head: oid, Worktree: "main", Worktrees: []Worktree{{Name: "agent-1", Branch: "refs/heads/agent-1", Head: oid}}, Index: oid, Staged: []Path{"go.mod"}},
		Files:    NewFiles([]Path{"docs/arch.md", "a", "b", "c"}, []Path{"go.mod"}, nil),
		Snapshot: Snapshot{Tree: oid, Skipped: []Skipped{{Path: "x.iso", Reason: "larger than checkpoint.maxFileSize", Size: 734003200}}},
	}
}

func sealed(t *testing.T, r *Record) []byte {
	t.Helper()
	data, err := Seal(r, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Verify compares the checksum of raw with the one that r states. raw must be the text that r was
// parsed from.
func Verify(r *Record, raw []byte) error {
	computed, err := Checksum(raw)
	return cmp.Or(err, differs(r.Checksum, computed))
}
