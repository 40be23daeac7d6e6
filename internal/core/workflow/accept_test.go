package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func sample(tb testing.TB, name string) json.RawMessage {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func step(n int) *int { return &n }

// facts are what each system's own document says, without the raw parts.
func TestAcceptTakesWholeDocuments(t *testing.T) {
	at := func(s string) time.Time {
		when, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	want := map[string]Facts{
		"go-team": {ID: "cp-6-20260203T103500Z", Topic: "inventory-service", Step: step(6), StepName: "review", Iteration: "2",
			Time: at("2026-02-03T10:35:00Z")},
		"ultra-create": {ID: "cp_20260211_091742_phase2", Step: step(2), StepName: "phase_2", Time: at("2026-02-11T09:17:42Z"),
			Branch: "feature/ledger", Commit: "4e1d2a2"},
		"orchestrate": {ID: "orchestrate_search_box_20260301_081500", Topic: "Add a search box", Type: "orchestrate", Step: step(3), Status: "in_progress",
			Created: at("2026-03-01T08:15:00Z"), Time: at("2026-03-01T08:15:00Z")},
		"crunch": {ID: "CP-implementing-20260312-a1b2", Topic: "Queue for the printer", Step: step(3), StepName: "implementing",
			Trigger: "batch_complete"},
		"pipeline": {ID: "PRD-212", Topic: "Kiosk", Step: step(1), Status: "paused", Time: at("2026-03-01T08:15:00Z")},
	}
	sessions := map[string]string{"go-team": "7b0c1c9e-1d2f-4f55-9a52-0e6f3f3f8a11", "ultra-create": "proj_ledger", "orchestrate": "orchestrate_search_box_20260301_081500",
		"crunch": "issue-88", "pipeline": "PRD-212"}
	for name, facts := range want {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				a, err := d.Accept(sample(t, name))
				if err != nil {
					t.Fatal(err)
				}
				if got := d.SessionOf(a); got != sessions[name] {
					t.Errorf("session is %q, want %q", got, sessions[name])
				}
				a.Error, a.Metrics, a.Decisions, a.Outputs = nil, nil, nil, nil
				if diff := cmp.Diff(facts, a.Facts); diff != "" {
					t.Error(diff)
				}
				change := Change{New: a.State, NewStatus: "in_progress", Trigger: TriggerManual}
				if a.Status != "" {
					change.NewStatus = a.Status
				}
				if found := d.Check(change); len(found) != 0 {
					t.Errorf("the document is refused: %v", found)
				}
			})
		}
	}
}

// The record's state member is the state, to the byte; so is a bare state.
func TestAcceptFindsTheState(t *testing.T) {
	for label, d := range twins(t, "go-team") {
		t.Run(label, func(t *testing.T) {
			document := sample(t, "go-team")
			inner := gjson.GetBytes(document, "checkpoint")
			state := inner.Get("state").Raw
			for form, text := range map[string]string{"file": string(document), "record": inner.Raw, "member": `{"state":` + state + `}`, "bare": " \n" + state} {
				a, err := d.Accept(json.RawMessage(text))
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if string(a.State) != state {
					t.Errorf("%s: state is %s, want %s", form, a.State, state)
				}
				if a.Step == nil || *a.Step != 6 || a.StepName != "review" || a.Iteration != "2" {
					t.Errorf("%s: place is %v %q %q", form, a.Step, a.StepName, a.Iteration)
				}
			}
			a, err := d.Accept(document)
			if err != nil {
				t.Fatal(err)
			}
			if string(a.Outputs["spec"]) != `"# Inventory service\n\nTrack stock per warehouse.\n"` || len(a.Outputs) != 5 {
				t.Errorf("outputs are %q", a.Outputs)
			}
		})
	}
}

// A record's metrics go where the workflow keeps them; what the state has, wins.
func TestAcceptMovesMetrics(t *testing.T) {
	for label, d := range twins(t, "ultra-create") {
		t.Run(label, func(t *testing.T) {
			document, err := sjson.SetRawBytes(sample(t, "ultra-create"), "metrics", []byte(`{"tasks_total": 9007199254740993, "progress_percent": 50.50}`))
			if err != nil {
				t.Fatal(err)
			}
			a, err := d.Accept(document)
			if err != nil {
				t.Fatal(err)
			}
			if got := gjson.GetBytes(a.State, "metrics").Raw; got != `{"tasks_total": 9007199254740993, "progress_percent": 50.50}` {
				t.Errorf("metrics are %s", got)
			}
			if rest := gjson.ParseBytes(a.State).Map(); len(rest) != 7 {
				t.Errorf("the state is %s", a.State)
			}
			document, err = sjson.SetRawBytes(document, "state.metrics", []byte(`{"tasks_total": 1}`))
			if err != nil {
				t.Fatal(err)
			}
			if a, err = d.Accept(document); err != nil || gjson.GetBytes(a.State, "metrics").Raw != `{"tasks_total": 1}` {
				t.Errorf("state is %s, %v", a.State, err)
			}
		})
	}
}

func TestAcceptKeepsEveryDigit(t *testing.T) {
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			document := sample(t, "pipeline")
			a, err := d.Accept(document)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.State, bytes.TrimSpace(document)) {
				t.Errorf("state is %s", a.State)
			}
			if a.Error != nil {
				t.Errorf("error null is %s, not none", a.Error)
			}
			state, err := d.Derive(Change{New: a.State, Trigger: TriggerManual}, a.State)
			if err != nil || !bytes.Equal(state, a.State) {
				t.Errorf("derived state is %s, %v", state, err)
			}
		})
	}
}

func TestAcceptRefusesWhatIsNoState(t *testing.T) {
	d := Default()
	for problem, document := range map[string]string{
		"not valid JSON":       `{"a": 1,`,
		"null, not an object":  `null`,
		"a list, not":          `[1]`,
		"occurs twice":         `{"a": {"b": 1, "\u0062": 2}}`,
		"levels deep":          strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101),
		"levels":               strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"not valid UTF-8":      "{\"a\": \"\xff\"}",
		"limit is 52428800":    `{"a": "` + strings.Repeat("x", maxDocumentSize) + `"}`,
		"(line 3)":             "{\n\"a\": 1,\n\"a\": 2}",
		"unexpected end of":    ``,
		"after top-level valu": `{} {}`,
	} {
		_, err := d.Accept(json.RawMessage(document))
		var refused *StateError
		if problem == "levels" {
			problem = "depth"
		}
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: error is %v", problem, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: a message of %d characters", problem, len(err.Error()))
		}
	}
	deep := strings.Repeat(`{"a":`, 99) + "{}" + strings.Repeat("}", 99)
	if _, err := d.Accept(json.RawMessage(deep)); err != nil {
		t.Errorf("100 levels are refused: %v", err)
	}
}

func FuzzAccept(f *testing.F) {
	for _, name := range []string{"go-team", "ultra-create", "orchestrate", "crunch", "pipeline"} {
		f.Add([]byte(sample(f, name)))
	}
	f.Add([]byte(`{"a":1e400,"b":-0,"c":"\ud800","state":{"metrics":[]},"metrics":{"x":1}}`))
	definitions := []*Definition{}
	for _, name := range Names() {
		d, _ := Builtin(name)
		definitions = append(definitions, d)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		for _, d := range definitions {
			a, err := d.Accept(document)
			if err != nil {
				continue
			}
			if !json.Valid(a.State) {
				t.Fatalf("%s: state is no JSON: %q", d.Name, a.State)
			}
			change := Change{New: a.State, Old: a.State, OldStatus: "in_progress", NewStatus: a.Status, Trigger: TriggerManual}
			state, err := d.Derive(change, nil)
			if err != nil || !json.Valid(state) {
				t.Fatalf("%s: derived state is %q, %v", d.Name, state, err)
			}
			d.Check(change)
			d.SessionOf(a)
			_, _ = d.Place(PlaceRequest{Trigger: TriggerManual, Document: &a.Facts, State: a.State})
			situation := Situation{State: a.State, Status: a.Status, Error: a.Error, Changed: []string{"f"}}
			r := d.Resume(ResumeInput{Situation: situation, Current: document})
			if r.CanResume != (r.Action != ActionRefuse) || !json.Valid(r.State) {
				t.Fatalf("%s: resume is %+v", d.Name, r)
			}
			d.NextAction(situation)
			d.Files(a.State)
		}
	})
}
