package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/sjson"
)

// wrong lists, per workflow, members and values that the schema has to refuse: the
// types of workflows as people know them, written down apart from the schemas.
func wrong() map[string]map[string]any {
	return map[string]map[string]any{
		"go-team": {
			"topic": 1, "phase": true, "current_step": "6", "iteration_count": 1.5,
			"metrics.build_pass": "yes", "metrics.test_coverage": "82%", "metrics.lint_clean": 1, "metrics.race_free": nil,
			"metrics": []int{},
		},
		"ultra-create": {
			"completed_tasks": map[string]any{}, "completed_tasks.0.id": 1, "completed_tasks.0.agent": 1, "completed_tasks.0.duration": 9,
			"completed_tasks.0.status": true, "completed_tasks.0": "task_001",
			"pending_tasks": "none", "pending_tasks.0.id": 1, "pending_tasks.0.agent": false, "pending_tasks.0.dependencies_met": "yes",
			"failed_tasks": 0, "files_created": "a", "files_created.0.path": 1, "files_created.0.hash": 1, "decisions": map[string]any{},
			"git_state": "main", "git_state.branch": 1, "git_state.commit": 1, "git_state.worktrees": "agent-1",
			"metrics": 1, "metrics.tasks_completed": 1.5, "metrics.tasks_total": "5", "metrics.progress_percent": "40",
			"metrics.elapsed_time": 45, "metrics.estimated_remaining": 45,
		},
		"orchestrate": {
			"workflow_type": 1, "workflow_state": "done", "workflow_description": 1, "created_at": 1, "updated_at": 1, "status": 1,
			"current_phase": "3", "total_phases": 5.5, "completed_phases": 2, "completed_phases.0": "one", "last_error": 1, "checkpoint_id": 1,
			"workflow_state.project_name": 1, "workflow_state.artifact_registry": "plan", "workflow_state.plan_path": 1,
		},
		"crunch": {
			"checkpoint_id": 1, "version": true, "issue_number": "88", "session_id": 1, "trigger": 1, "created_at": 1,
			"workflow_state": "docs", "workflow_state.current_phase": "shipping", "workflow_state.current_state_label": 1,
			"workflow_state.phase_started_at": 1, "workflow_state.phase_attempt": "1",
			"issue_snapshot": "x", "issue_snapshot.title": 1, "issue_snapshot.body": 1, "issue_snapshot.labels": "bug",
			"issue_snapshot.labels.0": 1, "issue_snapshot.assignees": "kim", "issue_snapshot.assignees.0": 1, "issue_snapshot.branch": 1,
			"team_state": 1, "team_state.team_id": 1, "team_state.members": 1, "team_state.members.0": 1, "team_state.members.0.agent": 1,
			"team_state.members.0.role": 1, "team_state.members.0.status": 1, "team_state.members.0.tasks_completed": "a",
			"team_state.members.0.tasks_pending": "b",
			"execution_graph":                    1, "execution_graph.graph_id": 1, "execution_graph.completed_batches": "1", "execution_graph.current_batch": true,
			"execution_graph.node_states": 1, "execution_graph.node_states.batch_2_task_1": "done",
			"execution_graph.node_states.batch_2_task_1.status": 1, "execution_graph.node_states.batch_2_task_1.started_at": 1,
			"execution_graph.node_states.batch_1_task_1.completed_at": 1,
			"agent_outputs": 1, "agent_outputs.coder-1": 1, "agent_outputs.coder-1.a": 1, "agent_outputs.coder-1.a.completed_at": 1,
			"agent_outputs.coder-1.a.output_summary": 1, "agent_outputs.coder-1.a.output_location": 1,
			"acp_state": 1, "acp_state.pending_messages": 1, "acp_state.awaiting_response": 1, "acp_state.conflicts_in_progress": 1,
			"knowledge_context": 1, "knowledge_context.injected_entries": 1, "knowledge_context.captured_entries": 1,
			"knowledge_context.pending_captures": 1,
			"files_modified":                     1, "files_modified.0": 1, "files_modified.0.path": 1, "files_modified.0.status": 1, "files_modified.0.staged": "yes",
			"recovery_info": 1, "recovery_info.can_resume": "yes", "recovery_info.resume_from": 1, "recovery_info.prerequisites_met": 1,
			"recovery_info.warnings": "none", "recovery_info.warnings.0": 1,
		},
		"pipeline": {
			"prd": "PRD-21", "prd_title": 1, "current_phase": -1, "timestamp": 1, "status": 1,
			"completed_workstreams": "WS1", "completed_workstreams.0": 1, "in_progress_workstreams": "WS1", "in_progress_workstreams.0": 1,
			"pending_workstreams": 1, "pending_workstreams.0": 1, "artifacts": 1, "artifacts.WS1": "a", "artifacts.WS1.0": 1,
			"gates_passed": 1, "gates_passed.0": 1, "gates_pending": 1, "gates_pending.0": 1,
			"error": "broken", "error.file": 1, "error.line": "7", "error.message": "no workstream", "error.workstream": "no message",
			"adversarial_review": 1, "adversarial_review.verdict": "maybe", "adversarial_review.p0_count": -1, "adversarial_review.p1_count": "2",
			"adversarial_review.attempt": 3, "adversarial_review.findings_path": 1, "adversarial_review.override_reason": 1,
			"eslint_fixes": 1, "eslint_fixes.0": 1, "eslint_fixes.0.file": 1, "eslint_fixes.0.change": 1, "cleanup_done": "yes",
			"key_fixes": 1, "key_fixes.0.file": 1, "phases": 1, "phases.0": 1, "phases.0.0": 1, "titles": 1, "titles.WS1": 1,
		},
	}
}

func accepted(t *testing.T, d *Definition, name string) Accepted {
	t.Helper()
	a, err := d.Accept(sample(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSchemasRefuseWrongMembers(t *testing.T) {
	for name, members := range wrong() {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				s, err := d.stateSchema()
				if err != nil {
					t.Fatal(err)
				}
				for path, bad := range members {
					state, err := sjson.SetBytes(accepted(t, d, name).State, path, bad)
					if err != nil {
						t.Fatal(err)
					}
					found := s.violations(value(state), len(state))
					if !slices.ContainsFunc(found, func(v Violation) bool {
						dotted := strings.NewReplacer("[", ".", "]", "").Replace(v.Path)
						return (dotted == path || strings.HasPrefix(dotted, path+".") || strings.HasPrefix(path, dotted+".") && v.Message == "is missing" ||
							v.Message == "is missing" && strings.HasPrefix(dotted, "error.")) && v.Allowed != ""
					}) {
						t.Errorf("%s = %v: violations are %+v", path, bad, found)
					}
				}
			})
		}
	}
}

// Every property of a schema has its case in the list above, which fails without
// the property, because the list was not made from the schemas.
func TestEverySchemaPropertyHasAWrongValue(t *testing.T) {
	for name, members := range wrong() {
		d, _ := Builtin(name)
		covered := map[string]bool{}
		for path := range members {
			covered[strings.NewReplacer(".0", "[]").Replace(path)] = true
		}
		missing := []string{}
		properties(d.State.Schema, d.State.Schema, "", func(path string) {
			if !covered[path] && !strings.Contains(path, "*") {
				missing = append(missing, path)
			}
		})
		if len(missing) > 0 {
			t.Errorf("%s: no wrong value for %q", name, missing)
		}
	}
}

// properties walks the named properties of a schema.
func properties(schema, root any, path string, visit func(string)) {
	object, _ := schema.(map[string]any)
	if ref, ok := object["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		properties(root.(map[string]any)["$defs"].(map[string]any)[name], root, path, func(p string) {
			if path == "eslint_fixes" {
				visit(p)
			}
		})
		return
	}
	named, _ := object["properties"].(map[string]any)
	for name, property := range named {
		visit(join(path, name))
		properties(property, root, join(path, name), visit)
	}
	if items, ok := object["items"]; ok {
		properties(items, root, path+"[]", visit)
	}
	if extra, ok := object["additionalProperties"]; ok {
		properties(extra, root, path+".*", visit)
	}
}

// Removing a required member is a violation; every other member may be left out.
func TestSchemasRequireOnlyWhatTheyName(t *testing.T) {
	required := map[string][]string{"orchestrate": {"workflow_type", "workflow_state"}, "pipeline": {"prd", "status", "timestamp"}}
	for _, name := range Names() {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				c := Change{New: json.RawMessage(`{"anything": {"else": [1.50, null]}}`), NewStatus: "in_progress", Trigger: TriggerManual}
				var missing []string
				for _, v := range d.checkSchema(value(c.New), len(c.New)) {
					if v.Rule != ruleSchema || v.Message != "is missing" {
						t.Errorf("violation %v", v)
					}
					missing = append(missing, v.Path)
				}
				slices.Sort(missing)
				want := slices.Clone(required[name])
				slices.Sort(want)
				if !slices.Equal(missing, want) {
					t.Errorf("missing are %q, want %q", missing, want)
				}
			})
		}
	}
}

// All violations are found at once, each with its path, and no false ones.
func TestSchemaFindsAllFaults(t *testing.T) {
	d, err := Parse([]byte(`{"name": "all", "version": "1", "state": {"schema": {
		"type": "object", "required": ["a", "b"], "additionalProperties": false, "minProperties": 1,
		"properties": {
			"a": {"type": "integer", "minimum": 3, "multipleOf": 2},
			"b": {"allOf": [{"$ref": "#/$defs/name"}, {"maxLength": 3}]},
			"c": {"type": "array", "prefixItems": [{"const": 1}], "items": {"$ref": "#/$defs/name"}, "minItems": 2, "uniqueItems": true},
			"d": {"oneOf": [{"type": "string"}, {"type": "boolean"}]},
			"e": {"anyOf": [{"type": "null"}, {"required": ["x"]}]},
			"f": {"not": {"type": "string"}},
			"g": {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "number"}},
			"h": {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "number"}, "propertyNames": {"maxLength": 4}}
		},
		"$defs": {"name": {"type": "string", "pattern": "^[a-z]+$"}}
	}}}`), "all.json")
	if err != nil {
		t.Fatal(err)
	}
	faults := func(state string) []string {
		paths := []string{}
		for _, v := range d.checkSchema(value(json.RawMessage(state)), len(state)) {
			paths = append(paths, fmt.Sprintf("%s %s", v.Path, v.Message))
		}
		return paths
	}
	if got := faults(`{"a": 4, "b": "abc", "c": [1, "x"], "d": true, "e": null, "f": 1, "g": "ab", "h": {"x-1": "s", "y": 1}}`); len(got) != 0 {
		t.Errorf("a good state is refused: %q", got)
	}
	got := faults(`{"a": 1, "b": "ABCD", "c": [2, "X", "X"], "d": 1, "e": 1, "f": "s", "g": "a", "h": {"x-1": 1, "y": "s", "toolong": 1}, "i": 1}`)
	want := []string{"a ", "b does not match", "b ", "c ", "c[0] is not one", "c[1] does not", "c[2] does not", "d ", "f ", "g ", "h ", "h.x-1 has the wrong", "h.y has the wrong", "i is not a known"}
	for _, start := range want {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, start) }) {
			t.Errorf("no fault starts with %q: %q", start, got)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "e ") }) {
		t.Errorf("e is right: %q", got)
	}
}

func TestSchemasThatCouldExplodeAreRefused(t *testing.T) {
	for problem, schema := range map[string]string{
		"refers to itself":         `{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}}`,
		"is not one of the schema": `{"$ref": "https://example.com/schema"}`,
		"more than 1000 parts":     `{"$ref": "#/$defs/l0", "$defs": {` + doubling(20) + `"l20": {}}}`,
		"steps for a character":    `{"pattern": "((a{100}){10}b{900})"}`,
		"invalid repeat count":     `{"pattern": "(a{1001}){1001}"}`,
		"unknown keyword":          `{"requierd": ["a"]}`,
		"is not a type":            `{"type": "text"}`,
		"is not a schema":          `{"properties": {"a": 1}}`,
		"whole number of 0":        `{"minLength": -1}`,
		"is not a number":          `{"minimum": "1"}`,
		"greater than 0":           `{"multipleOf": 0}`,
		"list of schemas":          `{"anyOf": []}`,
		"list that is not empty":   `{"enum": []}`,
		"at the root":              `{"properties": {"a": {"$defs": {}}}}`,
		"is supported":             `{"$schema": "http://json-schema.org/draft-07/schema#"}`,
	} {
		_, err := Parse([]byte(`{"name": "x", "version": "1", "state": {"schema": `+schema+`}}`), "x.json")
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "state.schema") {
			t.Errorf("%s: error is %v", problem, err)
		}
	}
}

func doubling(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, `"l%d": {"allOf": [{"$ref": "#/$defs/l%d"}, {"$ref": "#/$defs/l%d"}]}, `, i, i+1, i+1)
	}
	return b.String()
}

// A large state is judged, or refused by name, before it can cost much.
func TestSchemaWorkIsBounded(t *testing.T) {
	branches := strings.TrimSuffix(strings.Repeat(`{"type": "string"},`, 400), ",")
	d, err := Parse([]byte(`{"name": "x", "version": "1", "state": {"schema": {"anyOf": [`+branches+`]}}}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	state := json.RawMessage(`{"a": "` + strings.Repeat("x", 1<<20) + `"}`)
	found := d.Check(Change{New: state, NewStatus: "in_progress", Trigger: TriggerManual})
	if len(found) != 1 || !strings.Contains(found[0].Message, "bounded time") {
		t.Errorf("violations are %v", found)
	}
}
