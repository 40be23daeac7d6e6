package workflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessages(t *testing.T) {
	for label, d := range twins(t, "go-team") {
		t.Run(label, func(t *testing.T) {
			for key, want := range map[string]string{
				"created":       "✓ Checkpoint created: cp-03-architecture\nFiles: 12 | Git: 1a2b3c4",
				"create_failed": "✗ Checkpoint failed: disk full\nThe workflow does not go on: *retry-cp, *skip-cp or *pause.",
				"rolled_back":   "✓ Rolled back to cp-03-architecture\nNext: step 4 implementation",
				"step_failed":   "✗ Step 4 implementation failed: disk full\nNo checkpoint was made. The last good one is cp-03-architecture; go back to it with a rollback.",
				"rollback_plan": "Roll back to cp-03-architecture\n  state: step 3 architecture\n  files reverted: 7\n  steps discarded: 4, 5\n  commits left behind: 2",
			} {
				values := map[string]any{"label": "cp-03-architecture", "files": 12, "commit": "1a2b3c4", "error": "disk full", "next_step": 4,
					"next_name": "implementation", "step": 3, "step_name": "architecture", "reverted": 7, "discarded": []int{4, 5}, "left_behind": 2,
					"last_valid": "cp-03-architecture"}
				if key == "step_failed" {
					values["step"], values["step_name"] = 4, "implementation"
				}
				if got := d.Message(key, values); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			if got := d.Message("created", map[string]any{"label": "{session}", "files": nil}); got != "✓ Checkpoint created: {session}\nFiles: | Git:" {
				t.Errorf("values are not templates: %q", got)
			}
			if d.Message("no such", nil) != "" {
				t.Error("an unknown message says something")
			}
		})
	}
	if keys := MessageKeys(); len(keys) != len(Default().Messages) || keys[0] != "corrupt" {
		t.Errorf("keys are %q", keys)
	}
}

func TestForeignConfiguration(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			got, err := d.Configuration(json.RawMessage(`{"enabled": true, "auto_checkpoint": false, "max_size_mb": 50, "storage": {"max_size_mb": 51}, "compress": true,
			"triggers": {"agent_complete": true, "conflict_events": false, "a b": true, "nested": {}},
			"retention": {"phase_transition": "all", "batch_complete": 3}}`))
			want := []KeyValue{
				{"checkpoint.enabled", "true"}, {"checkpoint.auto", "false"},
				{"checkpoint.agent_complete.enabled", "true"}, {"checkpoint.conflict_events.enabled", "false"},
				{"checkpoint.phase_transition.keep", "-1"}, {"checkpoint.batch_complete.keep", "3"},
				{"checkpoint.maxSize", "50m"}, {"checkpoint.maxSize", "51m"},
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
			if _, err := d.Configuration(json.RawMessage(`[`)); err == nil {
				t.Error("text that is no JSON is taken")
			}
		})
	}
}

func TestListsAreMatchedById(t *testing.T) {
	d, _ := Builtin("crunch")
	if got := strings.Join(d.Identity("team_state.members"), " "); got != "agent" {
		t.Errorf("members are matched by %q", got)
	}
	if got := strings.Join(d.Identity("anything"), " "); got != "id" {
		t.Errorf("a list is matched by %q", got)
	}
}
