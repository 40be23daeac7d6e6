package workflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// asked evaluates an expression over new (and old).
func asked(text, fresh, old string) (any, error) {
	d := &Definition{Name: "x"}
	v := map[string]any{}
	for name := range ruleScope().vars {
		v[name] = nil
	}
	v["new"], v["old"] = value(json.RawMessage(fresh)), value(json.RawMessage(old))
	return d.evaluatorOver(ruleScope(), v, []byte(fresh), []byte(old)).evaluate(text)
}

func TestLanguage(t *testing.T) {
	const state = `{"a": ["x", "y", "x"], "b": ["y", "z"], "n": [1, 2.0, 3.5], "o": {"k": 1, "j": null}, "s": "text", "i": 9007199254740993,
		"g": ["t (x)", "t (x, y)", "u (q)", "(x)", "v"], "nodes": {"batch_2_b": {"status": "done"}, "batch_10_a": {"status": "new"}, "batch_2_a": "new", "z": {}}}`
	for text, want := range map[string]string{
		`union(new.a, new.b, nil)`:                  `["x","y","z"]`,
		`concat(new.b, new.b)`:                      `["y","z","y","z"]`,
		`common(new.a, new.b)`:                      `["y"]`,
		`missing(new.a, new.b)`:                     `["x"]`,
		`duplicates(new.a, new.b)`:                  `["x","y"]`,
		`disjoint(new.b, ["x"])`:                    `true`,
		`disjoint(new.a)`:                           `false`,
		`same(new.b, ["z", "y", "z"])`:              `true`,
		`same(new.b, nil)`:                          `false`,
		`subset(nil, new.b)`:                        `true`,
		`subset([1, 2, 3.5], new.n)`:                `true`,
		`bare(new.g, ["x", "y"])`:                   `["t","t","u (q)","(x)","v"]`,
		`lost(["t (x)"], ["t"], ["x"])`:             `[]`,
		`lost(["t (x)"], ["t (y)"], ["x", "y"])`:    `["t (x)"]`,
		`lost(["t"], ["t (y)"], ["x", "y"])`:        `[]`,
		`list(new.s)`:                               `["text"]`,
		`list(new.zz)`:                              `[]`,
		`keys(new.o)`:                               `["j","k"]`,
		`natural(["a10", "a9", "a09", "b", "a"])`:   `["a","a9","a09","a10","b"]`,
		`numbers(2, 4)`:                             `[2,3,4]`,
		`numbers(1, 0)`:                             `[]`,
		`numbers(1.5, 3.5)`:                         `[2,3]`,
		`numbers(0.2, 0.4)`:                         `[]`,
		`numbers(-2, -1)`:                           `[-2,-1]`,
		`first(new.a)`:                              `"x"`,
		`last(new.b)`:                               `"z"`,
		`first(nil)`:                                `null`,
		`len(new.s) + len(new.o) + len(nil)`:        `6`,
		`finished(new.nodes, ["done"])`:             `["batch_2_b"]`,
		`batches(unfinished(new.nodes, ["done"]))`:  `[["batch_2_a"],["batch_10_a"],["z"]]`,
		`round(2.5) + round(1)`:                     `4`,
		`1 + 0.5`:                                   `1.5`,
		`new.i + 1`:                                 `9007199254740994`,
		`new.i == 9007199254740992`:                 `false`,
		`text(new.o)`:                               `"{\"j\":null,\"k\":1}"`,
		`join(new.a, " < ")`:                        `"x < y < x"`,
		`span(3725.4)`:                              `"1h2m5s"`,
		`reason(new.s)`:                             `"text"`,
		`is_time("2026-02-30")`:                     `false`,
		`is_time("2026-02-28T25:00:00Z")`:           `false`,
		`is_time("2026-02-28T23:00:00.5+02:00")`:    `true`,
		`is_time(new.i)`:                            `false`,
		`all(new.a, len(#) == 1)`:                   `true`,
		`count(new.n, # > 1)`:                       `2`,
		`filter(new.n, # > 1)`:                      `[2,3.5]`,
		`map([new.o], .k)`:                          `[1]`,
		`findIndex(new.a, # == "y")`:                `1`,
		`findIndex(new.a, # == "q") == nil`:         `true`,
		`"x" in nil or 2 in new.n and "k" in new.o`: `true`,
		`"x" in new.a and not ("q" in new.a)`:       `true`,
		`new.zz?.deeper ?? "none"`:                  `"none"`,
		`new.s startsWith "te" ? 1 : 2`:             `1`,
	} {
		got, err := asked(text, state, `{}`)
		if err != nil || string(encode(got)) != want {
			t.Errorf("%s is %s, %v; want %s", text, encode(got), err, want)
		}
	}
	for text, problem := range map[string]string{
		`union(new.s)`:           "a text is not a list",
		`keys(new.a)`:            "a list is not an object",
		`numbers(1, 1000000)`:    "more than 100000",
		`numbers(1e17, 1e17)`:    "more than 2^53",
		`numbers(1/0, 1/0)`:      "more than 2^53",
		`numbers(0, 0/0.0)`:      "more than 2^53",
		`numbers(1)`:             "not enough arguments",
		`numbers(1, 2, 3)`:       "too many arguments",
		`"a" + "b"`:              "is not a number",
		`new.zz.deeper`:          "cannot fetch",
		`len(new.i)`:             "a number is not a list",
		`finished(new.a, [])`:    "is not an object",
		`5 % len(new.o) % 0 > 0`: "divide by zero",
	} {
		if got, err := asked(text, state, `{}`); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s is %v, %v; want %q", text, got, err, problem)
		}
	}
}

// Constructs whose work has no bound are not part of the language.
func TestLanguageHasNoWayOut(t *testing.T) {
	d := Default()
	for _, text := range []string{
		`1..1000000000`, `let a = new; a`, `new matches "(a+)+$"`, `new.s matches new.t`, `repeat("x", 1000000)`, `new.a[1:2]`,
		`reduce(new.a, #acc + #)`, `sortBy(new.a, #)`, `groupBy(new.a, #)`, `toJSON(new)`, `fromJSON(new.s)`, `now()`, `date("2020")`,
		`$env`, `__meter`, `__tick(1, 2, 3)`, `__add(1, 2)`, `new.f()`, `1; 2`, `map(new.a, keys(new))`, `string(new)`, `flatten(new.a)`,
		`replace(new.s, "a", "aa")`, `get(new, "a")`, `sum(new.a)`, `max(new.a)`,
	} {
		if _, err := d.programs.compile(ruleScope(), text, ""); err == nil {
			t.Errorf("%s is let in", text)
		}
	}
}

// Nested loops over a large state are refused by the meter.
func TestEvaluationIsBounded(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat(`"xxxxxxxx",`, 20_000), ",")
	state := `{"a": [` + items + `]}`
	for i, text := range []string{
		`all(new.a, any(new.a, all(new.a, # != nil)))`,
		`all(new.a, new == new)`,
		`all(new.a, # in new.a)`,
		`count(new.a, subset(new.a, new.a)) > 0`,
		`any(new.a, all(new.a, len(union(new.a, new.a)) == 0))`,
	} {
		if testing.Short() && i > 1 {
			break
		}
		began := time.Now()
		_, err := asked(text, state, state)
		if err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("%s: error is %v", text, err)
		}
		t.Logf("%s: refused after %v", text, time.Since(began))
	}
	// What numbers makes counts as well, not only what the state has.
	for _, text := range []string{
		`all(numbers(1, 100000), len(numbers(1, 100000)) > 0)`,
		`count(numbers(1, 100), 0 in numbers(1, 100000)) > 0`,
	} {
		if _, err := asked(text, `{}`, `{}`); err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("%s: error is %v", text, err)
		}
	}
	// Many small values cost more than one long text: these took three to six seconds.
	small := `{"a": [` + strings.TrimSuffix(strings.Repeat("{},", 5000), ",") + `]}`
	for _, text := range []string{`count(new.a, 2 in new.a) > 0`, `count(new.a, new.a == old.a) > 0`, `count(new.a, subset(new.a, old.a)) > 0`} {
		if _, err := asked(text, small, small); err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("%s: error is %v", text, err)
		}
	}
	if got, err := asked(`"x" in new.a and subset(new.a, old.a)`, `{"a": ["x", "`+strings.Repeat("y", 10<<20)+`"]}`, `{"a": ["x", "`+strings.Repeat("y", 10<<20)+`"]}`); err != nil || got != true {
		t.Errorf("an honest rule over a long text: %v, %v", got, err)
	}
	if got, err := asked(`len(filter(numbers(1, 1000), # in numbers(1, 500)))`, `{}`, `{}`); err != nil || got != 500 {
		t.Errorf("an honest rule with numbers: %v, %v", got, err)
	}
	if got, err := asked(`all(new.a, # == "xxxxxxxx") and subset(new.a, old.a)`, state, state); err != nil || got != true {
		t.Errorf("an honest rule over the same state: %v, %v", got, err)
	}
}

// A rule that does not end is named, and so is one that cannot be evaluated.
func TestRulesThatCannotBeCheckedAreBroken(t *testing.T) {
	d, err := Parse([]byte(`{"name": "x", "version": "1", "rules": [
		{"name": "endless", "check": "all(new.a, any(new.a, none(new.a, false)))", "message": "m"},
		{"name": "wrong", "check": "new.b.c.d == 1", "path": "b", "message": "m"}
	]}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	state := `{"a": [` + strings.TrimSuffix(strings.Repeat("1,", 2000), ",") + `]}`
	found := d.Check(Change{New: json.RawMessage(state), NewStatus: "in_progress", Trigger: TriggerManual})
	if len(found) != 2 || found[0].Rule != "endless" || !strings.Contains(found[0].Message, "takes too long") || found[1].Rule != "wrong" {
		t.Errorf("violations are %v", found)
	}
	// A value that is made once and looked at many times.
	if d, err = Parse([]byte(`{"name": "x", "version": "1", "values": {"many": "numbers(1, 100000)"}, "rules": [
		{"name": "endless", "check": "all(many, # in many)", "message": "m"}]}`), "x.json"); err != nil {
		t.Fatal(err)
	}
	found = d.Check(Change{New: json.RawMessage(`{}`), NewStatus: "in_progress", Trigger: TriggerManual})
	if len(found) != 1 || !strings.Contains(found[0].Message, "takes too long") {
		t.Errorf("violations are %v", found)
	}
}

// The decoder agrees with encoding/json on everything but duplicates and depth.
func TestDecodeAgreesWithTheLibrary(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalars := []*rapid.Generator[any]{rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64().Filter(func(f float64) bool { return f != 0 }).AsAny()}
		if depth == 0 {
			return rapid.OneOf(scalars...)
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		return rapid.OneOf(append(scalars, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())...)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.MarshalIndent(value(4).Draw(t, "value"), "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Skip()
		}
		got, err := decode(text, maxDocumentSize)
		if err != nil {
			t.Fatal(err)
		}
		want := mustUnmarshal(t, text)
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if back := mustUnmarshal(t, again); fmt.Sprint(back) != fmt.Sprint(want) {
			t.Fatalf("%s is %v", text, got)
		}
		if encoded := encode(got); fmt.Sprint(mustUnmarshal(t, encoded)) != fmt.Sprint(want) {
			t.Fatalf("%s is encoded as %s", text, encoded)
		}
	})
}

func mustUnmarshal(t *rapid.T, text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
