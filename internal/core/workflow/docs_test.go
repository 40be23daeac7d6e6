package workflow

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func manualPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The manual names every member, function, variable and message there is.
func TestTheManualIsComplete(t *testing.T) {
	page := manualPage(t)
	var words []string
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Slice, reflect.Map, reflect.Pointer:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				if name := memberName(t.Field(i)); name != "" {
					words = append(words, name)
					walk(t.Field(i).Type)
				}
			}
		default:
		}
	}
	walk(reflect.TypeFor[Definition]())
	for _, s := range []scope{ruleScope(), resumeScope(), sessionScope(), messageScope()} {
		words = append(words, sortedKeys(s.vars)...)
	}
	words = append(words, sortedKeys(Default().Messages)...)
	for name := range loops() {
		words = append(words, name)
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("docs/workflows.md does not name `%s`", word)
		}
	}
	for name := range functions() {
		if !strings.HasPrefix(name, "_") && !strings.Contains(page, "`"+name+"(") {
			t.Errorf("docs/workflows.md does not describe %s()", name)
		}
	}
}

// The example of the manual is the file that is tested here, and does what the
// manual says of it.
func TestTheExampleOfTheManual(t *testing.T) {
	text := sample(t, "manual")
	if !strings.Contains(manualPage(t), "```json\n"+string(text)+"```") {
		t.Error("docs/workflows.md shows another example than testdata/manual.json")
	}
	d, err := Parse(text, "manual.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(old, fresh, oldStatus, status string, place Place, live ...int) []string {
		c := Change{Old: json.RawMessage(old), New: json.RawMessage(fresh), OldStatus: oldStatus, NewStatus: status, Trigger: TriggerManual, Place: place, Live: live}
		return names(d.Check(c))
	}
	const two = `{"chapters": ["a", "b"], "open": ["b"]}`
	for _, c := range []struct {
		about     string
		got, want []string
	}{
		{"print before review", check(two, two, "writing", "writing", Place{Step: 3, Milestone: true}, 1), texts("step_order")},
		{"good", check("", two, "", "writing", Place{Step: 1, Milestone: true}), texts()},
		{"open is missing", check("", `{}`, "", "writing", Place{}), texts("schema")},
		{"unknown chapter", check("", `{"chapters": ["a"], "open": ["c"]}`, "", "writing", Place{}), texts("known_chapters")},
		{"lost chapter", check(two, `{"chapters": ["b"], "open": ["b"]}`, "writing", "writing", Place{}), texts("chapters_stay")},
		{"complete too early", check(two, two, "writing", "complete", Place{}), texts("nothing_open")},
		{"after the end", check(two, two, "complete", "writing", Place{}), texts("transition")},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: broken are %q, want %q", c.about, c.got, c.want)
		}
	}
	p, err := d.Place(PlaceRequest{Trigger: TriggerManual, Step: step(2), Milestones: milestones(map[int][]string{2: {"1"}}, nil)})
	if err != nil || p != (Place{Step: 2, Name: "review", Iteration: "2", Milestone: true}) {
		t.Errorf("the second review is %+v, %v", p, err)
	}
	state, err := d.Derive(Change{New: json.RawMessage(two), Trigger: TriggerManual}, nil)
	if err != nil || !strings.Contains(string(state), `"metrics":{"open":1}`) {
		t.Errorf("state is %s, %v", state, err)
	}
	if off, err := d.SwitchedOff("autosave", nil); err != nil || off == "" || d.Retention.Triggers["autosave"] != (Keep{Last: 5, Per: "phase"}) {
		t.Errorf("autosave is off by %q, %v", off, err)
	}
	r := d.Resume(ResumeInput{Situation: Situation{Session: "s", State: state, Status: "waiting"}})
	if r.Action != ActionAsk || r.ProgressText != "1 of 2 chapters" || r.ResumePoint != "b" {
		t.Errorf("resume is %+v", r)
	}
	if got := d.NextAction(Situation{State: state, Status: "writing"}); got != "write b" {
		t.Errorf("next is %q", got)
	}
	if got := gone(t, d, items("manual*"), Policy{Now: epoch.Add(91 * day), Status: "complete"}); got != "00" {
		t.Errorf("after 91 days %q are gone", got)
	}
}
