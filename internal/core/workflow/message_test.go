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
				"create_failed": "✗ Checkpoint failed: disk full\nThe workflow stops here: *retry-cp, *skip-cp or *pause.",
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
	if keys := sortedKeys(Default().Messages); len(keys) != len(Default().Messages) || keys[0] != "commit" {
		t.Errorf("keys are %q", keys)
	}
}

func TestForeignConfiguration(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			got, err := d.Configuration(json.RawMessage(`{"enabled": true, "auto_checkpoint": false, "max_size_mb": 50, "compress": true,
			"triggers": {"agent_complete": true, "conflict_events": false, "a b": true, "nested": {"x": 1}},
			"retention": {"phase_transition": "all", "batch_complete": 3, "agent_complete": "last_1 per phase"}}`))
			want := Configured{
				Settings: []KeyValue{
					{"checkpoint.enabled", "true"}, {"checkpoint.auto", "false"},
					{"checkpoint.agent_complete.enabled", "true"}, {"checkpoint.conflict_events.enabled", "false"},
					{"checkpoint.phase_transition.keep", "-1"}, {"checkpoint.batch_complete.keep", "3"}, {"checkpoint.agent_complete.keep", "1"},
					{"checkpoint.maxSizeRecords", "50m"},
				},
				Unused: []string{"compress: git compresses every checkpoint", "triggers.a b", "triggers.nested.x"},
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
			for _, text := range []string{`[`, `{"enabled": "perhaps"}`, `{"retention": {"manual": "some"}}`, `{"max_size_mb": "large"}`} {
				if got, err := d.Configuration(json.RawMessage(text)); err == nil {
					t.Errorf("%s is taken: %v", text, got)
				}
			}
		})
	}
}

// The file as that system has it: all of it below one member, triggers as a list, storage.
func TestForeignConfigurationInside(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			got, err := d.Configuration(json.RawMessage(`{"checkpoint": {"enabled": false, "checkpoint_triggers": ["phase_transition", "conflict_events"],
			"storage": {"location": ".claude/crunch", "max_size_mb": 20, "rotate": true}}}`))
			want := Configured{
				Settings: []KeyValue{
					{"checkpoint.enabled", "false"}, {"checkpoint.agent_complete.enabled", "false"}, {"checkpoint.batch_complete.enabled", "false"},
					{"checkpoint.conflict_resolved.enabled", "true"}, {"checkpoint.conflict_start.enabled", "true"},
					{"checkpoint.phase_transition.enabled", "true"}, {"checkpoint.maxSizeRecords", "20m"},
				},
				Unused: []string{"checkpoint.storage.location: checkpoints are objects and refs of git; checkpoint.mirror writes the files", "checkpoint.storage.rotate"},
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
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
