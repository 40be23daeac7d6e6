package workflow

import (
	"strings"
	"testing"
)

func config(pairs ...string) Config {
	return func(key string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestTriggersOfEveryWorkflow(t *testing.T) {
	milestones := map[string]string{
		"default":      "manual phase_transition turn",
		"go-team":      "manual phase_transition",
		"ultra-create": "phase_transition",
		"orchestrate":  "manual phase_transition",
		"crunch":       "phase_transition",
		"pipeline":     "manual phase_transition",
	}
	others := map[string]string{
		"crunch": "batch_complete agent_complete conflict_start conflict_resolved",
	}
	for name, steps := range milestones {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				for _, trigger := range strings.Fields(steps + " " + others[name] + " manual user_interrupt session_end safety run prompt tool turn watch promote revert compaction subagent") {
					off, err := d.SwitchedOff(trigger, nil)
					if err != nil {
						t.Error(err)
						continue
					}
					o, _ := d.trigger(trigger)
					if want := strings.Contains(" "+steps+" ", " "+trigger+" "); o.Milestone != want {
						t.Errorf("%s: milestone is %v", trigger, o.Milestone)
					}
					if (off == "") != (trigger != "agent_complete") {
						t.Errorf("%s: off is %q", trigger, off)
					}
					if o.Exempt != (trigger == TriggerSafety || trigger == TriggerRun || trigger == TriggerRevert) {
						t.Errorf("%s: exempt is %v", trigger, o.Exempt)
					}
				}
				if _, err := d.SwitchedOff("no such", nil); err == nil {
					t.Error("a trigger with a blank in its name is known")
				}
				if _, err := d.SwitchedOff("nightly", nil); (err == nil) != (name == "default") {
					t.Errorf("nightly: %v", err)
				}
			})
		}
	}
}

func TestConfigurationSwitchesTriggers(t *testing.T) {
	for label, d := range twins(t, "crunch") {
		t.Run(label, func(t *testing.T) {
			for _, c := range []struct {
				trigger string
				config  Config
				off     string
			}{
				{"batch_complete", nil, ""},
				{"agent_complete", nil, "the workflow"},
				{"agent_complete", config("checkpoint.agent_complete.enabled", "yes"), ""},
				{"batch_complete", config("checkpoint.batch_complete.enabled", "false"), "checkpoint.batch_complete.enabled"},
				{"conflict_start", config("checkpoint.conflict_events.enabled", "off"), "checkpoint.conflict_events.enabled"},
				{"conflict_resolved", config("checkpoint.conflict_events.enabled", "0"), "checkpoint.conflict_events.enabled"},
				{"conflict_start", config("checkpoint.conflict_events.enabled", "no", "checkpoint.conflict_start.enabled", "1"), ""},
				{"batch_complete", config("checkpoint.conflict_events.enabled", "no"), ""},
				{"batch_complete", config("checkpoint.auto", "false", "checkpoint.batch_complete.enabled", "true"), "checkpoint.auto"},
				{"user_interrupt", config("checkpoint.auto", "false"), ""},
				{"session_end", config("checkpoint.auto", "false"), ""},
				{"turn", config("checkpoint.auto", ""), "checkpoint.auto"},
				{"manual", config("checkpoint.auto", "false"), ""},
				{"manual", config("checkpoint.enabled", "false"), "checkpoint.enabled"},
				{"manual", config("checkpoint.enabled", "TRUE"), ""},
				{"manual", config("checkpoint.manual.enabled", "off"), "checkpoint.manual.enabled"},
				{"safety", config("checkpoint.enabled", "false", "checkpoint.auto", "false", "checkpoint.safety.enabled", "false"), ""},
			} {
				off, err := d.SwitchedOff(c.trigger, c.config)
				if err != nil || off != c.off {
					t.Errorf("%s: off by %q, %v; want %q", c.trigger, off, err, c.off)
				}
			}
			if _, err := d.SwitchedOff("manual", config("checkpoint.enabled", "perhaps")); err == nil || !strings.Contains(err.Error(), "checkpoint.enabled") {
				t.Errorf("error is %v", err)
			}
			if _, err := d.SwitchedOff("manual", config("checkpoint.manual.keep", "few")); err == nil {
				t.Error("a word is no number to keep")
			}
			if keep, _, err := d.Retention.limit("batch_complete", config("checkpoint.batch_complete.keep", "5")); err != nil || keep != (Keep{Last: 5, Per: "phase"}) {
				t.Errorf("keep is %+v, %v", keep, err)
			}
			if keep, _, err := d.Retention.limit("conflict_start", nil); err != nil || keep.Last != -1 {
				t.Errorf("a trigger without a rule keeps %+v, %v", keep, err)
			}
		})
	}
}
