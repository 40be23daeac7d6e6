package workflow

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func resumed(t *testing.T, d *Definition, name string, edits edit, change func(*ResumeInput)) Resume {
	t.Helper()
	a, err := d.Accept(edited(t, string(accepted(t, d, name).State), edits))
	if err != nil {
		t.Fatal(err)
	}
	in := ResumeInput{Situation: Situation{Session: "s", State: a.State, Status: a.Status, Error: a.Error, Age: time.Hour}}
	if in.Status == "" {
		in.Status = "in_progress"
	}
	if change != nil {
		change(&in)
	}
	return d.Resume(in)
}

func strs(raws []json.RawMessage) []string {
	out := []string{}
	for _, raw := range raws {
		out = append(out, string(raw))
	}
	return out
}

func expect(t *testing.T, r Resume, action Action, point, message string) {
	t.Helper()
	if r.Action != action || r.CanResume != (action != ActionRefuse) {
		t.Errorf("action is %q, can resume %v; want %q", r.Action, r.CanResume, action)
	}
	if r.ResumePoint != point {
		t.Errorf("resume point is %q, want %q", r.ResumePoint, point)
	}
	if r.Message != message {
		t.Errorf("message is %q, want %q", r.Message, message)
	}
}

func TestResumePipeline(t *testing.T) {
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			r := resumed(t, d, "pipeline", nil, nil)
			expect(t, r, ActionResume, "phase 2: Queue", "last gate: type-check (WS1); next: phase 2: Queue")
			if diff := cmp.Diff([][]string{{`"WS1"`}, {`"WS2"`, `"WS3"`}}, [][]string{strs(r.Completed.Last(99)), strs(r.Pending)}); diff != "" {
				t.Error(diff)
			}
			if r.Progress != (Fraction{1, 3}) || r.ProgressText != "1 of 3 workstreams" {
				t.Errorf("progress is %+v %q", r.Progress, r.ProgressText)
			}
			r = resumed(t, d, "pipeline", edit{"phases": nil, "gates_passed": texts()}, nil)
			expect(t, r, ActionResume, "phase 2", "last gate: none; next: phase 2")
			r = resumed(t, d, "pipeline", edit{"status": "initialized", "current_phase": 0, "phases": nil, "titles": nil}, nil)
			expect(t, r, ActionResume, "phase 1", "next: phase 1")
			r = resumed(t, d, "pipeline", edit{"status": "complete"}, nil)
			expect(t, r, ActionRefuse, "", "PRD-212 already complete")
			if !slices.Equal(r.Refusals, texts("PRD-212 already complete")) {
				t.Errorf("refusals are %q", r.Refusals)
			}
			r = resumed(t, d, "pipeline", edit{"status": "in_progress", "in_progress_workstreams": texts("WS2"), "pending_workstreams": texts("WS3")}, nil)
			expect(t, r, ActionAsk, "phase 2: Queue", "")
			if !slices.Equal(r.Questions, texts("WS2 was under way. Restart or continue?")) || !slices.Equal(r.Warnings, texts("still in progress: WS2")) {
				t.Errorf("questions are %q, warnings %q", r.Questions, r.Warnings)
			}
			broken := map[string]any{"workstream": "WS2", "message": "type error", "file": "src/q.ts", "line": 7}
			r = resumed(t, d, "pipeline", edit{"status": "failed", "error": broken}, nil)
			expect(t, r, ActionAsk, "phase 2: Queue", "WS2 failed: type error (src/q.ts:7)")
			if !slices.Equal(r.Questions, texts("WS2 failed: type error (src/q.ts:7). Is it fixed?")) {
				t.Errorf("questions are %q", r.Questions)
			}
			delete(broken, "line")
			delete(broken, "file")
			r = resumed(t, d, "pipeline", edit{"status": "failed", "error": broken}, nil)
			expect(t, r, ActionAsk, "phase 2: Queue", "WS2 failed: type error")
			// An imported document may lack what a create requires.
			r = resumed(t, d, "pipeline", edit{"status": "failed", "current_phase": nil}, nil)
			expect(t, r, ActionAsk, "phase 2: Queue", "PRD-212 failed")
			if !slices.Equal(r.Questions, texts("PRD-212 failed. Is it fixed?")) {
				t.Errorf("questions are %q", r.Questions)
			}
			r = resumed(t, d, "pipeline", edit{"status": "in_progress", "in_progress_workstreams": texts("WS2", "WS3")}, nil)
			if !slices.Equal(r.Questions, texts("WS2, WS3 were under way. Restart or continue?")) {
				t.Errorf("questions are %q", r.Questions)
			}
		})
	}
}

func TestResumeOrchestrate(t *testing.T) {
	for label, d := range twins(t, "orchestrate") {
		t.Run(label, func(t *testing.T) {
			r := resumed(t, d, "orchestrate", nil, nil)
			expect(t, r, ActionResume, "3", "Add a search box")
			if r.ProgressText != "Phase 2 of 5" || r.Progress != (Fraction{2, 5}) {
				t.Errorf("progress is %+v %q", r.Progress, r.ProgressText)
			}
			if !slices.Equal(strs(r.Pending), texts("3", "4", "5")) || !slices.Equal(strs(r.Completed.Last(99)), texts("1", "2")) {
				t.Errorf("completed are %q, pending %q", r.Completed, r.Pending)
			}
			// The first phase outside the completed ones, wherever the document stands.
			r = resumed(t, d, "orchestrate", edit{"completed_phases": []int{1, 3}}, nil)
			expect(t, r, ActionResume, "2", "Add a search box")
			r = resumed(t, d, "orchestrate", edit{"total_phases": nil}, nil)
			expect(t, r, ActionResume, "3", "Add a search box")
			if r.ProgressText != "" {
				t.Errorf("progress out of nothing: %q", r.ProgressText)
			}
			r = resumed(t, d, "orchestrate", edit{"completed_phases": []int{1, 2, 3, 4, 5}}, nil)
			expect(t, r, ActionResume, "", "Add a search box")
			r = resumed(t, d, "orchestrate", edit{"status": "completed"}, nil)
			expect(t, r, ActionRefuse, "3", "s already complete")
			r = resumed(t, d, "orchestrate", edit{"status": "failed", "last_error": map[string]any{"message": "API changed", "phase": 2}}, nil)
			expect(t, r, ActionAsk, "3", "failed: API changed")
			r = resumed(t, d, "orchestrate", edit{"status": "failed", "last_error": nil}, nil)
			expect(t, r, ActionAsk, "3", "failed")
			r = resumed(t, d, "orchestrate", edit{"status": "abandoned"}, nil)
			expect(t, r, ActionResume, "3", "")
			if len(r.Warnings) != 1 {
				t.Errorf("warnings are %q", r.Warnings)
			}
			files := d.Files(accepted(t, d, "orchestrate").State)
			want := []FileRef{{"workflow_state.plan_path", "specs/plans/031_search.md"}, {"workflow_state.artifact_registry.plan", "specs/plans/031_search.md"}}
			if diff := cmp.Diff(want, files); diff != "" {
				t.Error(diff)
			}
			r = resumed(t, d, "orchestrate", nil, func(in *ResumeInput) { in.Missing = files[:1] })
			expect(t, r, ActionResume, "3", "Add a search box")
			if !slices.Equal(r.Warnings, texts("missing: specs/plans/031_search.md (workflow_state.plan_path)")) {
				t.Errorf("warnings are %q", r.Warnings)
			}
		})
	}
}

func TestResumeCrunch(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			r := resumed(t, d, "crunch", nil, nil)
			expect(t, r, ActionResume, "batch_2_task_1", "phase implementing")
			if !slices.Equal(strs(r.Completed.Last(99)), texts(`"batch_1_task_1"`)) {
				t.Errorf("completed are %q", r.Completed)
			}
			batches := [][]string{}
			for _, batch := range r.Batches {
				batches = append(batches, strs(batch))
			}
			want := [][]string{{`"batch_2_task_1"`, `"batch_2_task_2"`}, {`"batch_3_task_1"`}, {`"batch_10_task_1"`}}
			if diff := cmp.Diff(want, batches); diff != "" {
				t.Error(diff)
			}
			for name, text := range map[string]string{
				"captured_entries": `["k1"]`, "open_conflicts": `[{"id": "c1"}]`, "pending_messages": `[{"to": "coder-1", "text": "go on"}]`,
			} {
				if string(r.Restore[name]) != text {
					t.Errorf("%s to restore is %s, want %s", name, r.Restore[name], text)
				}
			}
			if gjson.GetBytes(r.Restore["issue"], "title").String() != "Queue for the printer" || len(r.Restore["execution_graph"]) == 0 {
				t.Errorf("to restore: %s", r.Restore)
			}
			r = resumed(t, d, "crunch", edit{"recovery_info.can_resume": false, "recovery_info.warnings": texts("two agents wrote queue.go")}, nil)
			expect(t, r, ActionRefuse, "batch_2_task_1", "phase implementing")
			if !slices.Equal(r.Warnings, texts("two agents wrote queue.go")) || len(r.Refusals) != 1 {
				t.Errorf("warnings are %q, refusals %q", r.Warnings, r.Refusals)
			}
			for _, unmet := range []any{false, map[string]any{"database": false, "node": true}, []any{map[string]any{"name": "database", "met": false}}} {
				r = resumed(t, d, "crunch", edit{"recovery_info.prerequisites_met": unmet}, nil)
				expect(t, r, ActionRefuse, "batch_2_task_1", "phase implementing")
				if len(r.Refusals) != 1 || unmet != false && !strings.Contains(r.Refusals[0], ": database") {
					t.Errorf("refusals are %q", r.Refusals)
				}
			}
			r = resumed(t, d, "crunch", edit{"recovery_info": nil, "execution_graph": nil}, nil)
			expect(t, r, ActionResume, "implementing", "phase implementing")
		})
	}
}

func TestFreshness(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			now := func(edits edit) json.RawMessage {
				return edited(t, gjson.GetBytes(sample(t, "crunch"), "issue_snapshot").Raw, edits)
			}
			with := func(change func(*ResumeInput)) Resume { return resumed(t, d, "crunch", nil, change) }
			state := string(accepted(t, d, "crunch").State)

			r := with(func(in *ResumeInput) { in.Current = now(edit{"labels": texts("bug", "state:implementing")}) })
			if r.Action != ActionResume || len(r.Warnings) != 0 || string(r.State) != state {
				t.Errorf("labels in another order: %+v", r)
			}
			r = with(func(in *ResumeInput) { in.Current = now(edit{"labels": texts("bug", "state:validation", "urgent")}) })
			if r.Action != ActionResume || !slices.Equal(r.Warnings, texts("issue labels changed: added state:validation, urgent; removed state:implementing")) {
				t.Errorf("action %s, warnings %q", r.Action, r.Warnings)
			}
			if gjson.GetBytes(r.State, "issue_snapshot.labels").String() != `["bug","state:validation","urgent"]` ||
				gjson.GetBytes(r.State, "workflow_state.current_state_label").String() != "state:implementing" {
				t.Errorf("state is %s", r.State)
			}
			if got := gjson.GetBytes(r.Restore["issue"], "labels").String(); got != `["bug","state:validation","urgent"]` {
				t.Errorf("the labels to restore are %s", got)
			}
			r = with(func(in *ResumeInput) { in.Current = now(edit{"labels": texts("bug", "state:validation")}) })
			if got := gjson.GetBytes(r.State, "workflow_state.current_state_label").String(); got != "state:validation" {
				t.Errorf("the label of the state is %q", got)
			}
			r = with(func(in *ResumeInput) { in.Current = now(edit{"body": "Jobs come twice."}) })
			if r.Action != ActionAsk || len(r.Questions) != 1 || string(r.State) != state {
				t.Errorf("body changed: %+v", r)
			}
			r = with(func(in *ResumeInput) {
				in.Current, _ = sjson.SetRawBytes([]byte(`{}`), "issue_snapshot", now(edit{"body": "x"}))
			})
			if r.Action != ActionAsk {
				t.Errorf("inside a document: %+v", r)
			}
			r = with(func(in *ResumeInput) { in.Current = now(edit{"body": nil, "title": "Other", "assignees": nil}) })
			if r.Action != ActionResume || len(r.Warnings) != 0 {
				t.Errorf("members left out: %+v", r)
			}
			r = with(func(in *ResumeInput) { in.Changed = []string{"src/queue.go"} })
			if r.Action != ActionAsk || len(r.Questions) != 1 || !strings.Contains(r.Questions[0], "src/queue.go") {
				t.Errorf("files changed: %+v", r)
			}
			r = with(func(in *ResumeInput) {
				in.Branch, in.BranchGone, in.Changed = "issue-88", true, []string{"a"}
				in.Current = now(edit{"body": "x", "labels": texts()})
			})
			if r.Action != ActionRefuse || len(r.Questions) != 2 || len(r.Warnings) != 1 ||
				!slices.Equal(r.Refusals, texts("branch issue-88 is gone: cannot resume; start afresh")) {
				t.Errorf("the strictest answer: %+v", r)
			}
		})
	}
	d, _ := Builtin("go-team")
	r := d.Resume(ResumeInput{Situation: Situation{Session: "s", Status: "in_progress", Branch: "b", Changed: []string{"f"}}, BranchGone: true})
	if r.Action != ActionResume || len(r.Warnings) != 2 {
		t.Errorf("a workflow without rules on freshness: %+v", r)
	}
}

func TestResumeTasksAndSteps(t *testing.T) {
	for label, d := range twins(t, "ultra-create") {
		t.Run(label, func(t *testing.T) {
			r := resumed(t, d, "ultra-create", nil, nil)
			expect(t, r, ActionResume, "task_004", "pending tasks: 2")
			ids := []string{}
			for _, raw := range r.Pending {
				ids = append(ids, gjson.GetBytes(raw, "id").String())
			}
			if !slices.Equal(ids, texts("task_004", "task_005")) || len(r.Completed) != 3 || r.ProgressText != "3 of 5 tasks" {
				t.Errorf("pending are %q, %d completed, %q", ids, len(r.Completed), r.ProgressText)
			}
		})
	}
	for label, d := range twins(t, "go-team") {
		t.Run(label, func(t *testing.T) {
			situation := Situation{Session: "parcel-07", Status: "in_progress", State: json.RawMessage(`{}`),
				Place: Place{Step: 3, Name: "architecture", Milestone: true}, Live: []int{1, 2, 3}, Skipped: []int{4}}
			r := d.Resume(ResumeInput{Situation: situation})
			expect(t, r, ActionResume, "testing", "architecture is done, next is testing")
			if len(r.Completed) != 3 || len(r.Pending) != 5 || r.ProgressText != "Step 3 of 8" {
				t.Errorf("%d completed, %d pending, %q", len(r.Completed), len(r.Pending), r.ProgressText)
			}
			if got := d.NextAction(situation); got != "step 5 testing" {
				t.Errorf("next action is %q", got)
			}
			situation.Status, situation.Error = "failed", json.RawMessage(`"tests are red"`)
			r = d.Resume(ResumeInput{Situation: situation})
			if r.Action != ActionAsk || r.Questions[0] != "parcel-07 failed: tests are red. Is it fixed?" {
				t.Errorf("failed: %+v", r)
			}
			situation.Error = nil
			r = d.Resume(ResumeInput{Situation: situation})
			if r.Message != "failed" || r.Questions[0] != "parcel-07 failed. Is it fixed?" {
				t.Errorf("failed without an error: %+v", r)
			}
		})
	}
	for status, action := range map[string]Action{"complete": ActionRefuse, "failed": ActionAsk, "paused": ActionResume, "green": ActionResume} {
		for _, name := range []string{"default", "go-team", "ultra-create", "crunch"} {
			d, _ := Builtin(name)
			if r := d.Resume(ResumeInput{Situation: Situation{Session: "s", Status: status}}); r.Action != action {
				t.Errorf("%s: %s at %s", name, r.Action, status)
			}
		}
	}
}

// Every part of resume and next_action sees the branch and the changed files, also those that later
// parts depend on.
func TestBranchAndFilesAreKnownEverywhere(t *testing.T) {
	d, err := Parse([]byte(`{"name": "x", "version": "1", "next_action": {"*": "{branch}: {files}"},
		"resume": {"completed": "files", "pending": "[branch]", "progress": {"done": "len(files)", "total": "len(files) + 1", "text": "{files} on {branch}"},
			"point": "{branch}: {files}", "statuses": {"*": {"action": "resume", "message": "{branch}: {files}"}}}}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	situation := Situation{Session: "s", Status: "in_progress", Branch: "b", Changed: texts("f", "g")}
	r := d.Resume(ResumeInput{Situation: situation})
	expect(t, r, ActionResume, "b: f, g", "b: f, g")
	if got := append(strs(r.Completed.Last(99)), strs(r.Pending)...); !slices.Equal(got, texts(`"f"`, `"g"`, `"b"`)) {
		t.Errorf("completed and pending are %q", got)
	}
	if r.Progress != (Fraction{2, 3}) || r.ProgressText != "f, g on b" {
		t.Errorf("progress is %v, %q", r.Progress, r.ProgressText)
	}
	if got := d.NextAction(situation); got != "b: f, g" {
		t.Errorf("next is %q", got)
	}
}

func TestNextAction(t *testing.T) {
	want := map[string]string{
		"initialized": "begin phase 1", "in_progress": "wait for completion of WS2", "paused": "approve to go on with phase 2: Queue",
		"failed": "fix WS2: type error, then resume", "complete": "close, then update the roadmap",
	}
	for label, d := range twins(t, "pipeline") {
		t.Run(label, func(t *testing.T) {
			for status, said := range want {
				state := edited(t, string(sample(t, "pipeline")), edit{"in_progress_workstreams": texts("WS2"),
					"error": map[string]any{"workstream": "WS2", "message": "type error"}})
				if got := d.NextAction(Situation{State: state, Status: status}); got != said {
					t.Errorf("%s: next is %q, want %q", status, got, said)
				}
			}
		})
	}
	d, _ := Builtin("orchestrate")
	if got := d.NextAction(Situation{State: sample(t, "orchestrate"), Status: "in_progress"}); got != "phase 3" {
		t.Errorf("next is %q", got)
	}
	if got := Default().NextAction(Situation{Status: "in_progress", Live: []int{1, 2}}); got != "go on with step 3" {
		t.Errorf("next is %q", got)
	}
}

// Without `phases` the point follows from current_phase and the lists; where they leave it open, it
// names the workstreams.
func TestPipelinePoint(t *testing.T) {
	for about, c := range map[string]struct{ state, former, point, pending string }{
		"initialised":              {`"status": "initialized", "current_phase": 0, "pending_workstreams": ["WS1", "WS2"]`, "", "phase 1", `"WS1" "WS2"`},
		"only what is required":    {`"status": "initialized"`, "", "phase 1", ""},
		"started":                  {`"status": "in_progress", "current_phase": 0, "in_progress_workstreams": ["WS1"], "pending_workstreams": ["WS2"]`, "", "phase 1", `"WS1" "WS2"`},
		"started, counted":         {`"status": "in_progress", "current_phase": 1, "in_progress_workstreams": ["WS1"], "pending_workstreams": ["WS2"]`, "", "phase 1", `"WS1" "WS2"`},
		"one done before its gate": {`"status": "in_progress", "current_phase": 0, "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2"]`, "", "after phase 0: WS2", `"WS2"`},
		"next one before the gate": {`"status": "in_progress", "current_phase": 0, "completed_workstreams": ["WS1"], "in_progress_workstreams": ["WS2"]`, "", "after phase 0: WS2", `"WS2"`},
		"at the gate":              {`"status": "paused", "current_phase": 1, "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2"]`, "", "phase 2", `"WS2"`},
		"next phase under way":     {`"status": "in_progress", "current_phase": 1, "completed_workstreams": ["WS1"], "in_progress_workstreams": ["WS2", "WS3"], "pending_workstreams": ["WS4"]`, "", "phase 2", `"WS2" "WS3" "WS4"`},
		"next phase, counted":      {`"status": "in_progress", "current_phase": 2, "completed_workstreams": ["WS1"], "in_progress_workstreams": ["WS2"]`, "", "phase 2", `"WS2"`},
		"nothing under way":        {`"status": "in_progress", "current_phase": 1, "completed_workstreams": ["WS1", "WS2"], "pending_workstreams": ["WS3", "WS4"]`, "", "after phase 1: WS3, WS4", `"WS3" "WS4"`},
		"failed":                   {`"status": "failed", "current_phase": 1, "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2", "WS3"]`, "", "phase 2", `"WS2" "WS3"`},
		"failed, dropped": {`"status": "failed", "current_phase": 1, "completed_workstreams": ["WS1"], "in_progress_workstreams": [], "pending_workstreams": ["WS4"]`,
			`{"in_progress_workstreams": ["WS2", "WS3"]}`, "phase 2", `"WS2" "WS3" "WS4"`},
		"failed, returned": {`"status": "failed", "current_phase": 1, "completed_workstreams": ["WS1", "WS2"], "pending_workstreams": ["WS3", "WS4"]`,
			`{"in_progress_workstreams": ["WS2", "WS3"]}`, "phase 2", `"WS3" "WS4"`},
		"all done":                   {`"status": "paused", "current_phase": 2, "completed_workstreams": ["WS1", "WS2"], "pending_workstreams": []`, "", "after phase 2", ""},
		"no phase":                   {`"status": "paused", "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2"]`, "", "WS2", `"WS2"`},
		"phases":                     {`"status": "paused", "current_phase": 0, "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2", "WS3"], "phases": [["WS1", "WS2"], ["WS3"]]`, "", "phase 1", `"WS2" "WS3"`},
		"phases that lack the next":  {`"status": "paused", "current_phase": 0, "completed_workstreams": ["WS1"], "pending_workstreams": ["WS2"], "phases": [["WS1"]]`, "", "after phase 1: WS2", `"WS2"`},
		"phases, all of them passed": {`"status": "paused", "current_phase": 7, "completed_workstreams": ["WS1"], "pending_workstreams": [], "phases": [["WS1"]]`, "", "after phase 1", ""},
	} {
		d, _ := Builtin("pipeline")
		r := resumed(t, d, "pipeline", nil, func(in *ResumeInput) {
			in.State, in.Former = json.RawMessage("{"+c.state+"}"), json.RawMessage(c.former)
			in.Status = gjson.GetBytes(in.State, "status").String()
		})
		if r.ResumePoint != c.point || strings.Join(strs(r.Pending), " ") != c.pending {
			t.Errorf("%s: point %q, pending %q", about, r.ResumePoint, r.Pending)
		}
	}
}
