package workflow

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func TestMetricsAreComputedFromTasks(t *testing.T) {
	for label, d := range twins(t, "ultra-create") {
		t.Run(label, func(t *testing.T) {
			a := accepted(t, d, "ultra-create")
			c := Change{New: a.State, Trigger: TriggerManual, Started: time.Unix(1_000_000, 0), Now: time.Unix(1_000_270, 0)}
			state, err := d.Derive(c, a.State)
			if err != nil {
				t.Fatal(err)
			}
			const want = `{"elapsed_time":"4m30s","estimated_remaining":"3m0s","progress_percent":60,"tasks_completed":3,"tasks_total":5}`
			if got := string(encode(value(rawAt(state, "metrics")))); got != want {
				t.Errorf("metrics are %s, want %s", got, want)
			}
			rest, err := sjson.DeleteBytes(state, "metrics")
			if err != nil || string(encode(value(rest))) != string(encode(value(a.State))) {
				t.Errorf("the rest changed: %s", rest)
			}
		})
	}
}

// A member that was provided by a document or an edit is kept. A member that was computed for an
// earlier checkpoint is computed again.
func TestGivenMembersAreKept(t *testing.T) {
	for label, d := range twins(t, "ultra-create") {
		t.Run(label, func(t *testing.T) {
			tasks := func(metrics string) json.RawMessage {
				return json.RawMessage(`{"completed_tasks": [{"id": "a"}], "pending_tasks": [{"id": "b"}], "metrics": ` + metrics + `}`)
			}
			total := func(old, fresh, given json.RawMessage) string {
				state, err := d.Derive(Change{Old: old, New: fresh, Trigger: TriggerManual}, given)
				if err != nil {
					t.Fatal(err)
				}
				return gjson.GetBytes(state, "metrics.tasks_total").Raw
			}
			document := tasks(`{"tasks_total": 7}`)
			if got := total(document, document, document); got != "7" {
				t.Errorf("given in the document: %s", got)
			}
			if got := total(tasks(`{"tasks_total": 7}`), tasks(`{"tasks_total": 8}`), nil); got != "8" {
				t.Errorf("given by an edit: %s", got)
			}
			if got := total(tasks(`{"tasks_total": 7}`), tasks(`{"tasks_total": 7}`), nil); got != "2" {
				t.Errorf("carried on: %s", got)
			}
			state, err := d.Derive(Change{New: json.RawMessage(`{"topic": 1.50}`), Trigger: TriggerManual}, nil)
			if err != nil || string(state) != `{"topic": 1.50}` {
				t.Errorf("a state without tasks becomes %s, %v", state, err)
			}
		})
	}
}

// A derivation and the values that it uses see the state of the checkpoint before.
func TestDerivationsSeeTheOldState(t *testing.T) {
	d, err := Parse([]byte(`{"name": "x", "version": "1", "values": {"before": "old?.n ?? 0"},
		"derive": [{"path": "was", "value": "old?.n"}, {"path": "sum", "value": "before + new.n"}]}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, want string }{
		{`{"n": 1}`, `{"n": 2,"was":1,"sum":3}`},
		{``, `{"n": 2,"sum":2}`},
	} {
		got, err := d.Derive(Change{Old: json.RawMessage(c.old), New: json.RawMessage(`{"n": 2}`), Trigger: TriggerManual}, nil)
		if err != nil || string(got) != c.want {
			t.Errorf("after %s: %s, %v; want %s", c.old, got, err, c.want)
		}
	}
}

func TestNothingDoneMeansNoEstimate(t *testing.T) {
	d, _ := Builtin("ultra-create")
	state := json.RawMessage(`{"completed_tasks": [], "pending_tasks": [{"id": "b"}], "metrics": {"estimated_remaining": "9s"}}`)
	got, err := d.Derive(Change{Old: state, New: state, Trigger: TriggerManual, Started: time.Unix(1, 0), Now: time.Unix(100, 0)}, nil)
	if err != nil || gjson.GetBytes(got, "metrics.estimated_remaining").Exists() {
		t.Errorf("state is %s, %v", got, err)
	}
	if got := gjson.GetBytes(got, "metrics.progress_percent").Raw; got != "0" {
		t.Errorf("progress is %s", got)
	}
}

// A phase that was carried over must not contradict the step. Without a document, the members that
// tell where the work stands are computed.
func TestTheCarriedPhaseFollowsTheStep(t *testing.T) {
	for label, d := range twins(t, "go-team") {
		t.Run(label, func(t *testing.T) {
			derive := func(old, fresh, given string, place Place) string {
				c := Change{Old: json.RawMessage(old), New: json.RawMessage(fresh), Trigger: TriggerManual, Place: place}
				state, err := d.Derive(c, json.RawMessage(given))
				if err != nil {
					t.Fatal(err)
				}
				return string(state)
			}
			next := Place{Step: 3, Name: "architecture", Milestone: true}
			const metrics = `"metrics":{"build_pass":false,"test_coverage":0,"lint_clean":false,"race_free":false}`
			const before = `{"phase": "requirements", "current_step": 2}`
			if got := derive(before, before, "", next); got != `{"phase": "architecture", "current_step": 3,"iteration_count":0,`+metrics+`}` {
				t.Errorf("carried on: %s", got)
			}
			if got := derive(before, before, "", Place{Step: 2, Name: "requirements"}); got != before {
				t.Errorf("hung on: %s", got)
			}
			if got := derive(before, before, before, next); got != before {
				t.Errorf("given: %s", got)
			}
			if got := derive(`{}`, `{}`, "", next); got != `{"phase":"architecture","current_step":3,"iteration_count":0,`+metrics+`}` {
				t.Errorf("made: %s", got)
			}
			if got := derive(`{}`, `{"notes": 1}`, `{"notes": 1}`, next); got != `{"notes": 1}` {
				t.Errorf("handed in: %s", got)
			}
			round := Place{Step: 6, Name: "review", Iteration: "2", Milestone: true}
			last := `{"phase": "review", "current_step": 6, "iteration_count": 1,` + metrics + `}`
			if got := derive(last, last, "", round); got != `{"phase": "review", "current_step": 6, "iteration_count": 2,`+metrics+`}` {
				t.Errorf("the second round: %s", got)
			}
			round.Iteration = "final"
			if got := derive(last, last, "", round); got != last {
				t.Errorf("the final round: %s", got)
			}
		})
	}
}
