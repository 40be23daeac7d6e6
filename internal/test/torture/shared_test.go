package torture

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// In a shared world it is noticed if a revert does not take back what the agent did, takes back what the
// person did, or touches the index, and if its undo does not bring everything back.
func TestSharedIsWatched(t *testing.T) {
	for says, script := range map[string]string{
		"":                                   `exec "$real" "$@"`,
		"revert --session":                   `case $1 in revert) exec "$real" "$@" -n;; esac; exec "$real" "$@"`,
		"revert --session $ ":                after(`"0 revert"`, "sed -i /P0001/d b"),
		"revert -y --json --session":         after(`"0 revert"`, "git add -A"),
		"a dry run of revert changed files":  `"$real" "$@"; code=$?; case $1 in revert) echo x >"$top/b";; esac; exit $code`,
		"undo (0) of a revert: exit 0":       after(`"0 undo"`, "echo x >>b"),
		"redo (1) of a revert: exit 0: : [a": after(`"0 redo"`, "echo x >>a"),
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			o := Options{Program: mutant(t, script), Dir: t.TempDir(), Log: io.Discard}
			found, err := o.try(t.Context(), dayOfTwo(), map[string]int{})
			switch says, _, _ = strings.Cut(says, " $"); {
			case err != nil:
				t.Fatal(err)
			case says == "" && found != nil:
				t.Errorf("nothing is wrong, and it says %q", found.What)
			case says != "" && (found == nil || !strings.HasPrefix(found.What, says)):
				t.Errorf("it says %v", found)
			}
		})
	}
}

// dayOfTwo is a case in which an agent edits a file, a person another one and the same one, and then the
// agent's step is reverted.
func dayOfTwo() *Case {
	g := &gen{kind: &kind{}}
	c := &crowd{gen: g, files: beginning()}
	by := func(d deed) { c.do(d, d.hook()) }
	use := deed{who: "A", turn: 1, call: 1}
	swap := change{does: "swap", path: "a", lines: []string{"L0003", "A0001"}}
	use.tool, use.input = swap.input()
	by(deed{who: "A", turn: 1, does: "prompt"})
	use.does = "before"
	by(use)
	c.do(deed{who: "A", turn: 1, call: 1, does: "work", changes: []change{swap}}, swap.shell())
	use.does = "after"
	by(use)
	by(deed{who: "A", turn: 1, does: "end"})
	for _, ch := range []change{{does: "add", path: "b", lines: []string{"P0001"}}, {does: "drop", path: "a", lines: []string{"L0009"}}} {
		c.do(deed{who: "P", does: "work", changes: []change{ch}}, ch.shell())
	}
	line := `--session "$(session A)" "$(step A 1)"`
	c.ops = append(c.ops, Op{Verb: "revert", Tree: "repo", Line: line, Deed: &deed{who: "A", turn: 1, to: 1, does: "revert", form: "step"}})
	k := sharing()
	return &Case{Kind: k.name, Seed: 1, Setup: k.setup(g), Ops: c.ops}
}

// A file that is written anew after it was deleted may be the old one with changes: then a line that is taken back
// and stands in it again goes back there, too.
func TestWrittenAgain(t *testing.T) {
	first := leaves{"a": {lines: []string{"x", "y"}}}
	g := &gathering{first: first, now: maps.Clone(first), gone: leaves{}}
	for _, ch := range []change{
		{does: "swap", path: "a", lines: []string{"x", "A1"}}, {does: "gone", path: "a"}, {does: "whole", path: "a", lines: []string{"A1", "y", "B2"}},
	} {
		d := &deed{changes: []change{ch}}
		g.deeds = append(g.deeds, done{deed: d, effects: g.effects(d)})
	}
	for again, want := range map[bool][]string{false: {"A1", "y", "B2"}, true: {"x", "y", "B2"}} {
		if got := g.after(map[int]bool{0: true}, again)["a"].lines; !slices.Equal(got, want) {
			t.Errorf("again %v: %v instead of %v", again, got, want)
		}
	}
}
