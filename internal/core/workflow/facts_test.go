package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Facts about the built-in workflows, written independently of their definitions.

func TestStepsOfWorkflows(t *testing.T) {
	want := map[string]string{
		"default": "open from 1", "orchestrate": "open from 1", "pipeline": "open from 0", "ultra-create": "open from 1 phase_1",
		"go-team": "1 init 2 requirements 3 architecture 4 implementation 5 testing 6 review 7 optimization 8 release 9 synthesis",
		"crunch":  "1 enrich 2 ready 3 implementing 4 validation 5 docs",
	}
	for name, steps := range want {
		for label, d := range twins(t, name) {
			said := []string{}
			for _, s := range d.Steps.List {
				said = append(said, fmt.Sprintf("%d %s", s.Number, s.Name))
				if d.Steps.iterates(s.Number) != (name == "go-team" && s.Number == 6) {
					t.Errorf("%s: step %d iterates: %v", label, s.Number, d.Steps.iterates(s.Number))
				}
			}
			if d.Steps.isOpen() {
				said = append(said, strings.TrimSpace(fmt.Sprintf("open from %d %s", d.Steps.first(), d.Steps.nameOf(1))))
			}
			if got := strings.Join(said, " "); got != steps {
				t.Errorf("%s: steps are %q, want %q", label, got, steps)
			}
		}
	}
}

func TestStatusesOfWorkflows(t *testing.T) {
	listed := map[string]string{
		"orchestrate": "in_progress completed failed abandoned",
		"pipeline":    "initialized in_progress paused failed complete",
	}
	first := map[string]string{"pipeline": "initialized"}
	for _, name := range Names() {
		for label, d := range twins(t, name) {
			for _, status := range strings.Fields("initialized in_progress paused complete completed failed abandoned green") {
				broken := slices.Contains(names(d.checkStatus(Change{NewStatus: status})), ruleStatus)
				if want, closed := listed[name]; broken == (!closed || slices.Contains(strings.Fields(want), status)) {
					t.Errorf("%s: status %s is refused: %v", label, status, broken)
				}
			}
			if !slices.Contains(names(d.checkStatus(Change{NewStatus: "a b"})), ruleStatus) {
				t.Errorf("%s: a status with a blank is let pass", label)
			}
			want := first[name]
			if want == "" {
				want = "in_progress"
			}
			if d.Statuses.Initial != want || !slices.Contains(d.Statuses.List, want) {
				t.Errorf("%s: starts as %q", label, d.Statuses.Initial)
			}
		}
	}
}

func TestPartsOfStates(t *testing.T) {
	for _, c := range []struct {
		workflow, document string
		got                func(a Accepted) any
		want               any
	}{
		{"go-team", `{"step_number": 4, "state": {}}`, func(a Accepted) any { return *a.Step }, 4},
		{"go-team", `{"step_name": "testing", "state": {}}`, func(a Accepted) any { return *a.Step }, 5},
		{"go-team", `{"phase": "testing"}`, func(a Accepted) any { return *a.Step }, 5},
		{"go-team", `{"metrics": {"race_free": true}}`, func(a Accepted) any { return string(a.Metrics) }, `{"race_free": true}`},
		{"default", `{"metrics": {"n": 1.50}}`, func(a Accepted) any { return string(a.Metrics) }, `{"n": 1.50}`},
		{"ultra-create", `{"state": {"decisions": [{"id": "d1"}]}}`, func(a Accepted) any { return string(a.Decisions) }, `[{"id": "d1"}]`},
		{"orchestrate", `{"last_error": "boom"}`, func(a Accepted) any { return string(a.Error) }, `"boom"`},
		{"pipeline", `{"error": {"message": "boom"}}`, func(a Accepted) any { return string(a.Error) }, `{"message": "boom"}`},
		{"crunch", `{"created_at": "2026-03-12T11:00:00+01:00"}`, func(a Accepted) any { return a.Time }, time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)},
	} {
		for label, d := range twins(t, c.workflow) {
			a, err := d.Accept(json.RawMessage(c.document))
			if err != nil || c.got(a) != c.want {
				t.Errorf("%s: %s says %v, %v; want %v", label, c.document, c.got(a), err, c.want)
			}
		}
	}
}

// A state that is carried on names the step where the workflow follows it.
func TestWhoFollowsTheState(t *testing.T) {
	states := map[string]string{"orchestrate": `{"current_phase": 5}`, "pipeline": `{"current_phase": 5}`, "crunch": `{"workflow_state": {"current_phase": "docs"}}`,
		"go-team": `{"current_step": 5}`, "default": `{"current_step": 5, "current_phase": 5}`, "ultra-create": `{"phase": 5}`}
	for name, state := range states {
		for label, d := range twins(t, name) {
			p, err := d.Place(PlaceRequest{Trigger: "phase_transition", State: json.RawMessage(state), Last: step(2)})
			want := 3
			if slices.Contains(texts("orchestrate", "pipeline", "crunch"), name) {
				want = 5
			}
			if err != nil || p.Step != want {
				t.Errorf("%s: place is %+v, %v; want step %d", label, p, err, want)
			}
		}
	}
}

func TestListsOfWorkflows(t *testing.T) {
	for name, lists := range map[string]map[string]string{
		"ultra-create": {"completed_tasks": "id", "pending_tasks": "id", "failed_tasks": "id", "files_created": "path", "decisions": "id"},
		"crunch":       {"team_state.members": "agent", "files_modified": "path"},
	} {
		for label, d := range twins(t, name) {
			for list, member := range lists {
				if got := d.Identity(list); !slices.Equal(got, texts(member)) {
					t.Errorf("%s: %s is matched by %q", label, list, got)
				}
			}
		}
	}
}

// What resume answers and what comes next, at every status.
func TestAnswersOfWorkflows(t *testing.T) {
	type answers map[string]string
	failed := "ask|failed: boom|s failed: boom. Is it fixed?||"
	abandoned := "resume|||s was abandoned|"
	over := "refuse|s already complete|||s already complete"
	resumes := map[string]answers{
		"default":      {"complete": over, "completed": over, "failed": failed, "abandoned": abandoned, "in_progress": "resume||||"},
		"go-team":      {"complete": over, "failed": failed, "abandoned": abandoned, "paused": "resume|requirements is done, next is architecture|||"},
		"ultra-create": {"complete": over, "failed": failed, "abandoned": abandoned, "paused": "resume|pending tasks: 0|||"},
		"crunch":       {"complete": over, "failed": failed, "abandoned": abandoned, "in_progress": "resume|phase |||"},
		"orchestrate":  {"completed": over, "failed": failed, "abandoned": abandoned, "in_progress": "resume||||"},
	}
	next := map[string]answers{
		"default":      {"complete": "close the session", "completed": "close the session", "failed": "fix what failed, then resume", "paused": "go on with step 3"},
		"go-team":      {"complete": "close the session", "failed": "fix what failed, then resume", "paused": "resume with step 3 architecture", "x": "step 3 architecture"},
		"ultra-create": {"complete": "close the session", "failed": "fix what failed, then resume", "paused": "begin phase_3"},
		"crunch":       {"complete": "close the session", "failed": "fix what failed, then resume", "paused": "go on with batch_1_a"},
		"orchestrate":  {"completed": "close the session", "failed": "fix what failed, then resume", "in_progress": "phase 1"},
	}
	states := map[string]string{"crunch": `{"execution_graph": {"node_states": {"batch_1_a": {"status": "pending"}, "batch_1_b": {"status": "done"}}}}`}
	for name, wanted := range resumes {
		for label, d := range twins(t, name) {
			s := Situation{Session: "s", Error: json.RawMessage(`"boom"`), State: json.RawMessage(states[name]), Live: []int{1, 2}, Place: Place{Step: 2, Name: "requirements"}}
			for status, want := range wanted {
				s.Status = status
				r := d.Resume(ResumeInput{Situation: s})
				got := fmt.Sprintf("%s|%s|%s|%s|%s", r.Action, r.Message, strings.Join(r.Questions, ";"), strings.Join(r.Warnings, ";"), strings.Join(r.Refusals, ";"))
				if got != want {
					t.Errorf("%s at %s: resume says %q, want %q", label, status, got, want)
				}
				if name == "crunch" && r.ProgressText != "1 of 2 tasks" {
					t.Errorf("%s: progress is %q", label, r.ProgressText)
				}
			}
			for status, want := range next[name] {
				s.Status = status
				if got := d.NextAction(s); got != want {
					t.Errorf("%s at %s: next is %q, want %q", label, status, got, want)
				}
			}
			r := d.Resume(ResumeInput{Situation: s})
			if (name == "default" || name == "go-team") && len(r.Completed) != 2 {
				t.Errorf("%s: completed are %q", label, r.Completed)
			}
		}
	}
	d := Default()
	if r := d.Resume(ResumeInput{Situation: Situation{Status: "paused", Live: []int{4}}}); r.ResumePoint != "step 5" || r.Completed[0] != "step 4" {
		t.Errorf("resume is %+v", r)
	}
	c, _ := Builtin("crunch")
	if r := c.Resume(ResumeInput{Situation: Situation{State: json.RawMessage(`{"recovery_info": {"can_resume": false}}`)}}); r.Refusals[0] != "the checkpoint says that it cannot be resumed" {
		t.Errorf("refusals are %q", r.Refusals)
	}
}

// Every rule of pipeline says what is wrong where, and what would be right.
func TestWhatPipelineRulesSay(t *testing.T) {
	want := map[string]string{
		"no such month":              `timestamp: timestamp is not an ISO 8601 time: "2026-13-01T00:00:00Z" (allowed: an ISO 8601 time such as 2026-03-01T08:15:00Z)`,
		"one is new":                 `workstreams_same: pending_workstreams the workstreams are not the same ones as before: ["WS1","WS2","WS3","WS4","WS5"] (allowed: WS1, WS2, WS3, WS4)`,
		"gate in both":               `gates_disjoint: gates_pending is passed and pending at once: ["type-check"] (allowed: each gate either passed or pending)`,
		"gate is new":                `gates_same: gates_pending the gates are not the same ones as before: ["type-check (WS1)","lint","e2e","audit"] (allowed: type-check, lint, e2e)`,
		"completed taken back":       `completed_kept: completed_workstreams WS1 was completed; only a rollback takes that back: [] (allowed: all of WS1)`,
		"gate taken back":            `gates_kept: gates_passed type-check (WS1) was passed; only a rollback takes that back: [] (allowed: all of type-check (WS1))`,
		"failed one does not return": `failed_returns: pending_workstreams the failed workstream WS9 must return to pending: ["WS2","WS3","WS4"] (allowed: a list with WS9 in it)`,
		"artifacts too early":        `artifacts_of_completed: artifacts artifacts of a workstream that is not completed: ["WS3"] (allowed: WS1)`,
		"paused but busy":            `idle: in_progress_workstreams no workstream may be in progress when the status is paused: ["WS2"] (allowed: [])`,
		"busy without work":          `busy: in_progress_workstreams no workstream is in progress, so the status must change: [] (allowed: a workstream in progress, or status paused, failed or complete)`,
		"failed without error":       `error_when_failed: error is required when the status is failed (allowed: an object with workstream and message)`,
		"error without failing":      `error_only_when_failed: error must not be set when the status is in_progress: {"message":"m","workstream":"WS2"} (allowed: no error, or status failed)`,
		"complete with work left":    `complete_workstreams: pending_workstreams complete needs every workstream completed: ["WS4"] (allowed: [])`,
		"complete with a gate left":  `complete_gates: gates_pending complete needs every gate passed: ["e2e"] (allowed: [])`,
		"overridden for an empty":    `override_reason: adversarial_review.override_reason is required when the verdict is overridden: "" (allowed: a reason)`,
	}
	for label, d := range twins(t, "pipeline") {
		cases := pipelineCases()
		for about, line := range want {
			found := d.Check(cases[about].change(t))
			if len(found) != 1 || found[0].String() != line {
				t.Errorf("%s: %s is said as\n%v, want\n%s", label, about, found, line)
			}
		}
	}
}
