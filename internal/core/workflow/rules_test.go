package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// edit changes members of a document; a value of nil removes the member.
type edit map[string]any

func edited(t *testing.T, document string, edits edit) json.RawMessage {
	t.Helper()
	var err error
	for _, path := range sortedKeys(edits) {
		if edits[path] == nil {
			document, err = sjson.Delete(document, path)
		} else {
			document, err = sjson.Set(document, path, edits[path])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return json.RawMessage(document)
}

const underway = `{
  "prd": "PRD-212", "prd_title": "Kiosk", "status": "in_progress", "timestamp": "2026-03-01T08:15:00Z", "current_phase": 1,
  "completed_workstreams": ["WS1"], "in_progress_workstreams": ["WS2"], "pending_workstreams": ["WS3", "WS4"],
  "artifacts": {"WS1": ["src/a.ts"]},
  "gates_passed": ["type-check (WS1)"], "gates_pending": ["lint", "e2e"]
}`

func texts(items ...string) []string { return append([]string{}, items...) }

// ruleCase is a change that breaks exactly the rules named.
type ruleCase struct {
	old, new edit
	former   string
	first    bool
	broken   []string
}

func pipelineCases() map[string]ruleCase {
	idle := edit{"status": "paused", "in_progress_workstreams": texts(), "pending_workstreams": texts("WS2", "WS3", "WS4")}
	failed := edit{"status": "failed", "in_progress_workstreams": texts(), "pending_workstreams": texts("WS2", "WS3", "WS4"),
		"error": map[string]any{"workstream": "WS2", "message": "type error"}}
	done := edit{"status": "complete", "completed_workstreams": texts("WS1", "WS2", "WS3", "WS4"), "in_progress_workstreams": texts(),
		"pending_workstreams": texts(), "gates_passed": texts("type-check (WS1)", "lint", "e2e (WS1, WS2)"), "gates_pending": texts()}
	with := func(base edit, more edit) edit {
		all := edit{}
		for k, v := range base {
			all[k] = v
		}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	return map[string]ruleCase{
		"nothing changed":        {},
		"a day is a time":        {new: edit{"timestamp": "2026-03-01"}},
		"no such month":          {new: edit{"timestamp": "2026-13-01T00:00:00Z"}, broken: texts("timestamp")},
		"words are no time":      {new: edit{"timestamp": "yesterday"}, broken: texts("timestamp")},
		"paused":                 {new: idle},
		"failed":                 {new: failed},
		"complete":               {new: done},
		"in two lists":           {new: edit{"pending_workstreams": texts("WS2", "WS3", "WS4")}, broken: texts("workstreams_disjoint")},
		"one is new":             {new: edit{"pending_workstreams": texts("WS3", "WS4", "WS5")}, broken: texts("workstreams_same")},
		"one is gone":            {new: edit{"pending_workstreams": texts("WS3")}, broken: texts("workstreams_same")},
		"first has any":          {first: true, new: edit{"pending_workstreams": texts("WS9")}},
		"gate in both":           {new: edit{"gates_pending": texts("lint", "e2e", "type-check")}, broken: texts("gates_disjoint")},
		"gate is new":            {new: edit{"gates_pending": texts("lint", "e2e", "audit")}, broken: texts("gates_same")},
		"gate is gone":           {new: edit{"gates_pending": texts("lint")}, broken: texts("gates_same")},
		"gate for several":       {new: edit{"gates_passed": texts("type-check (WS1)", "type-check (WS2)")}},
		"gate passes for one":    {new: edit{"gates_passed": texts("type-check (WS1)", "lint (WS1)"), "gates_pending": texts("e2e")}},
		"gate for all":           {new: edit{"gates_passed": texts("type-check")}},
		"a bracket that is none": {new: edit{"gates_passed": texts("type-check (WS1)", "lint (strict)"), "gates_pending": texts("e2e")}, broken: texts("gates_same")},
		"completed taken back": {new: edit{"completed_workstreams": texts(), "pending_workstreams": texts("WS1", "WS3", "WS4"), "artifacts": map[string]any{}},
			broken: texts("completed_kept")},
		"gate taken back": {new: edit{"gates_passed": texts(), "gates_pending": texts("lint", "e2e", "type-check")}, broken: texts("gates_kept")},
		"gate taken back for one": {old: edit{"gates_passed": texts("type-check (WS1)", "type-check (WS2)")},
			new: edit{"gates_passed": texts("type-check (WS2)")}, broken: texts("gates_kept")},
		"failed one does not return": {new: with(failed, edit{"error.workstream": "WS9"}), broken: texts("failed_returns")},
		"artifacts too early":        {new: edit{"artifacts": map[string]any{"WS1": texts("a"), "WS3": texts("b")}}, broken: texts("artifacts_of_completed")},
		"paused but busy":            {new: edit{"status": "paused"}, broken: texts("idle")},
		"last one done":              {new: with(idle, edit{"status": "in_progress", "completed_workstreams": texts("WS1", "WS2"), "pending_workstreams": texts("WS3", "WS4")})},
		"busy without work":          {new: with(idle, edit{"status": "in_progress"}), broken: texts("busy")},
		"failed without error":       {new: with(failed, edit{"error": nil}), broken: texts("error_when_failed")},
		"error without failing":      {new: edit{"error": map[string]any{"workstream": "WS2", "message": "m"}}, broken: texts("error_only_when_failed")},
		"complete with work left": {new: with(done, edit{"completed_workstreams": texts("WS1", "WS2", "WS3"), "pending_workstreams": texts("WS4")}),
			broken: texts("complete_workstreams")},
		"complete with a gate left": {new: with(done, edit{"gates_passed": texts("type-check (WS1)", "lint"), "gates_pending": texts("e2e")}),
			broken: texts("complete_gates")},
		"overridden for no reason": {new: edit{"adversarial_review": map[string]any{"verdict": "overridden", "p0_count": 1, "p1_count": 0, "attempt": 1}}, broken: texts("override_reason")},
		"overridden for an empty":  {new: edit{"adversarial_review": map[string]any{"verdict": "overridden", "p0_count": 1, "p1_count": 0, "attempt": 1, "override_reason": ""}}, broken: texts("override_reason")},
		"overridden for a reason":  {new: edit{"adversarial_review": map[string]any{"verdict": "overridden", "p0_count": 1, "p1_count": 0, "attempt": 2, "override_reason": "demo"}}},
		"a review without counts":  {new: edit{"adversarial_review": map[string]any{"verdict": "ship"}}, broken: texts("schema", "schema", "schema")},
		"all at once": {new: edit{"status": "complete", "error": map[string]any{"workstream": "WS2", "message": "m"}},
			broken: texts("idle", "error_only_when_failed", "complete_workstreams", "complete_gates")},
		"initialized comes first":         {new: with(idle, edit{"status": "initialized"}), broken: texts("transition")},
		"no such status":                  {new: with(idle, edit{"status": "stopped"}), broken: texts("status")},
		"from failed to paused":           {old: failed, new: idle},
		"from failed on":                  {old: failed},
		"from failed to complete":         {old: failed, new: done},
		"failed drops what was under way": {new: with(failed, edit{"pending_workstreams": texts("WS3", "WS4")})},
		"failed drops what was pending":   {new: with(failed, edit{"pending_workstreams": texts("WS2", "WS3")}), broken: texts("workstreams_same")},
		"dropped ones return":             {old: with(failed, edit{"pending_workstreams": texts("WS3", "WS4")}), former: underway},
		"dropped ones stay away": {old: with(failed, edit{"pending_workstreams": texts("WS3", "WS4")}), former: underway,
			new: edit{"in_progress_workstreams": texts("WS3"), "pending_workstreams": texts("WS4")}, broken: texts("workstreams_same")},
		"failed again": {old: with(failed, edit{"pending_workstreams": texts("WS3", "WS4")}), former: underway,
			new: with(failed, edit{"pending_workstreams": texts("WS3", "WS4")})},
		"from paused to complete": {old: idle, new: done, broken: texts("transition")},
		"from paused on":          {old: idle},
		"complete is the end":     {old: done, new: with(done, edit{"status": "in_progress", "in_progress_workstreams": texts("WS5"), "completed_workstreams": texts("WS1", "WS2", "WS3", "WS4")}), broken: texts("workstreams_same", "transition")},
		"complete stays":          {old: done, new: done},
		"initialized starts":      {old: with(idle, edit{"status": "initialized"})},
		"initialized cannot fail": {old: with(idle, edit{"status": "initialized"}), new: failed, broken: texts("transition")},
		"no required members":     {new: edit{"prd": nil, "timestamp": nil}, broken: texts("schema", "schema")},
	}
}

func (c ruleCase) change(t *testing.T) Change {
	t.Helper()
	old, fresh := edited(t, underway, c.old), edited(t, underway, c.new)
	change := Change{
		Old: old, New: fresh, Trigger: TriggerManual, Session: "PRD-212",
		OldStatus: gjson.GetBytes(old, "status").String(), NewStatus: gjson.GetBytes(fresh, "status").String(),
		Place: Place{Step: 1, Milestone: true}, Former: json.RawMessage(c.former),
	}
	if c.first {
		change.Old, change.OldStatus = nil, ""
	}
	return change
}

func names(found []Violation) []string {
	broken := []string{}
	for _, v := range found {
		broken = append(broken, v.Rule)
	}
	slices.Sort(broken)
	return broken
}

func TestPipelineRules(t *testing.T) {
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			for name, c := range pipelineCases() {
				found := d.Check(c.change(t))
				slices.Sort(c.broken)
				if got := names(found); !slices.Equal(got, append([]string{}, c.broken...)) {
					t.Errorf("%s: broken are %q, want %q: %v", name, got, c.broken, found)
				}
			}
		})
	}
}

// The cases of a rule fail because of that rule: without it they pass.
func TestEveryPipelineRuleIsNeeded(t *testing.T) {
	d, _ := Builtin("pipeline")
	for i, r := range d.Rules {
		without, err := sjson.DeleteBytes(d.JSON(), fmt.Sprintf("rules.%d", i))
		if err != nil {
			t.Fatal(err)
		}
		mutant, err := Parse(without, "mutant.json")
		if err != nil {
			t.Fatal(err)
		}
		used := false
		for name, c := range pipelineCases() {
			if !slices.Contains(c.broken, r.Name) {
				continue
			}
			used = true
			if got := names(mutant.Check(c.change(t))); slices.Contains(got, r.Name) || len(got) != len(c.broken)-1 {
				t.Errorf("%s without rule %s: broken are %q", name, r.Name, got)
			}
		}
		if !used {
			t.Errorf("no case breaks rule %s", r.Name)
		}
	}
}

// Each listed transition is accepted and every other one is refused.
func TestPipelineTransitions(t *testing.T) {
	allowed := map[string][]string{
		"initialized": {"initialized", "in_progress"},
		"in_progress": {"in_progress", "paused", "failed", "complete"},
		"paused":      {"paused", "in_progress"},
		"failed":      {"failed", "paused", "in_progress", "complete"},
		"complete":    {"complete"},
	}
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			for from, next := range allowed {
				for to := range allowed {
					c := Change{New: json.RawMessage(underway), Old: json.RawMessage(underway), OldStatus: from, NewStatus: to, Trigger: TriggerManual}
					broken := slices.Contains(names(d.Check(c)), ruleTransition)
					if broken == slices.Contains(next, to) {
						t.Errorf("%s → %s: refused is %v", from, to, broken)
					}
				}
			}
		})
	}
}

// A violation names the rule, the path, the value there and what would be allowed.
func TestViolationSaysEverything(t *testing.T) {
	d, _ := Builtin("pipeline")
	c := pipelineCases()["in two lists"]
	found := d.Check(c.change(t))
	want := Violation{
		Rule: "workstreams_disjoint", Path: "pending_workstreams", Value: `["WS2"]`,
		Allowed: "each workstream once, in one of completed, in_progress and pending",
		Message: "occurs more than once in the three lists",
	}
	if len(found) != 1 || found[0] != want {
		t.Fatalf("violations are %+v, want %+v", found, want)
	}
	const line = `workstreams_disjoint: pending_workstreams occurs more than once in the three lists: ["WS2"] (allowed: each workstream once, in one of completed, in_progress and pending)`
	if found[0].String() != line {
		t.Errorf("said as %q", found[0])
	}
	c = pipelineCases()["from paused to complete"]
	found = d.Check(c.change(t))
	want = Violation{Rule: "transition", Path: "status", Value: `"complete"`, Allowed: "paused, in_progress", Message: `cannot follow "paused"`}
	if len(found) != 1 || found[0] != want {
		t.Errorf("violations are %+v, want %+v", found, want)
	}
}

func TestSafetyIsExempt(t *testing.T) {
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			if found := d.Check(Change{New: json.RawMessage(`{}`), NewStatus: "x", Trigger: TriggerSafety}); found != nil {
				t.Errorf("a safety checkpoint is refused: %v", found)
			}
		})
	}
}

// Rules distinguish integers that float64 cannot represent exactly.
func TestRulesSeeEveryDigit(t *testing.T) {
	d, err := Parse([]byte(`{"name": "digits", "version": "1", "rules": [
		{"name": "grows", "when": "old != nil", "check": "new.n > old.n", "path": "n", "message": "does not grow"}
	]}`), "digits.json")
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, fresh string) Change {
		return Change{Old: json.RawMessage(old), New: json.RawMessage(fresh), NewStatus: "in_progress", Trigger: TriggerManual, Now: time.Unix(0, 0)}
	}
	if found := d.Check(change(`{"n": 9007199254740992}`, `{"n": 9007199254740993}`)); len(found) != 0 {
		t.Errorf("2^53+1 is not greater than 2^53: %v", found)
	}
	found := d.Check(change(`{"n": 9007199254740993}`, `{"n": 9007199254740993}`))
	if len(found) != 1 || found[0].Value != "9007199254740993" {
		t.Errorf("violations are %+v", found)
	}
}
