package workflow

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// mutants returns variants of a definition, keyed by the change: one member or item removed, or one
// boolean or number changed.
func mutants(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		var walk func(at gjson.Result, place string) bool
		walk = func(at gjson.Result, place string) bool {
			going := true
			n := -1
			at.ForEach(func(key, value gjson.Result) bool {
				n++
				part := strconv.Itoa(n)
				if at.IsObject() {
					part = key.Str
				}
				if place == "" && slices.Contains([]string{"name", "version"}, part) || slices.Contains([]string{"title", "description"}, part) && value.Type == gjson.String {
					return true
				}
				here := strings.TrimPrefix(place+"."+strings.NewReplacer("*", `\*`, ".", `\.`).Replace(part), ".")
				if without, err := sjson.DeleteBytes(text, here); err == nil {
					going = yield("without "+here, without)
				}
				if other := turned(value); going && other != nil {
					if with, err := sjson.SetBytes(text, here, other); err == nil {
						going = yield(fmt.Sprintf("%s = %v", here, other), with)
					}
				}
				if value.IsObject() || value.IsArray() {
					going = going && walk(value, here)
				}
				return going
			})
			return going
		}
		walk(gjson.ParseBytes(text), "")
	}
}

func turned(v gjson.Result) any {
	switch v.Type {
	case gjson.True, gjson.False:
		return !v.Bool()
	case gjson.Number:
		return v.Int() + 1
	}
	return nil
}

// idle reports whether a member only repeats a default, for people who read the definition.
func idle(member string) bool {
	return slices.ContainsFunc([]string{"messages", "session", "session.branch", "steps.open", "steps.first", "steps.follow", "steps", "statuses.list", "state.schema.type",
		"triggers.manual", "triggers.user_interrupt", "triggers.session_end", "diff.identity", "resume.pending", "resume.statuses.\\*", "derive.4.when"},
		func(said string) bool {
			return member == said || strings.HasPrefix(member, said+".") && said != "steps" && said != "session"
		})
}

// Every member of every built-in definition has a visible effect: without it some answer changes.
func TestNoMemberIsIdle(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := Builtin(name)
			want := map[string]map[string]bool{}
			for subject := range subjects() {
				want[subject] = map[string]bool{}
				for line := range ask(t, d, name, subject, "") {
					want[subject][line] = true
				}
			}
			count := 0
			for about, text := range mutants(d.JSON()) {
				count++
				_, member, _ := strings.Cut("without "+strings.TrimPrefix(about, "without "), " ")
				member, _, _ = strings.Cut(member, " = ")
				if idle(member) || testing.Short() && count%10 != 0 {
					continue
				}
				mutant, err := Parse(text, "mutant.json")
				if err == nil && !differs(t, mutant, name, member, want) {
					t.Errorf("%s: nobody notices", about)
				}
			}
			if count < 20 {
				t.Errorf("only %d mutants", count)
			}
		})
	}
}

// schemaWords are parts of a path into a schema that name no property.
var schemaWords = strings.Fields("state schema properties items type enum required pattern minimum maximum additionalProperties")

// differs looks for an answer that differs, first among the subjects that the member affects most.
func differs(t *testing.T, d *Definition, name, member string, want map[string]map[string]bool) bool {
	t.Helper()
	first, _, _ := strings.Cut(member, ".")
	if strings.HasPrefix(member, "state.members") {
		first = "document"
	}
	if first == "rules" || first == "values" {
		first = "state"
	}
	parts := slices.DeleteFunc(strings.Split(member, "."), func(s string) bool { return len(s) < 3 || slices.Contains(schemaWords, s) })
	soon := strings.Join(parts[max(0, len(parts)-1):], "")
	for i, subject := range append([]string{first}, sortedKeys(want)...) {
		if i > 0 && subject == first || want[subject] == nil {
			continue
		}
		n := 0
		for line := range ask(t, d, name, subject, soon) {
			if n++; !want[subject][line] {
				return true
			}
		}
		if n != len(want[subject]) {
			return true
		}
	}
	return false
}
