package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Triggers that exist in every workflow and that the code refers to.
const (
	TriggerManual        = "manual"
	TriggerUserInterrupt = "user_interrupt"
	TriggerSessionEnd    = "session_end"
	TriggerSafety        = "safety"
	TriggerRun           = "run"     // captures the files before the first try of a step
	TriggerPromote       = "promote" // records what promote or land brought into a session
	TriggerRevert        = "revert"  // records that revert took back steps
)

// automatic lists further triggers that exist in every workflow. They are for programs that call
// this one, such as a coding agent's hooks or the watcher. None of them makes milestones.
func automatic() []string {
	return []string{TriggerRun, TriggerUserInterrupt, TriggerSessionEnd, "prompt", "before", "tool", "turn", "watch", TriggerPromote, TriggerRevert, "compaction", "subagent"}
}

// Config looks up a configuration key; ok is false if it is not set.
type Config func(key string) (value string, ok bool)

// get is Config for a caller that may have none.
func (c Config) get(key string) (value string, ok bool) {
	if c == nil {
		return "", false
	}
	return c(key)
}

// UnknownTrigger is the error for a trigger that the workflow does not have.
type UnknownTrigger struct {
	// Name is the trigger that was asked for, Known are those that exist.
	Name  string
	Known []string
}

// Error lists the triggers that exist.
func (e *UnknownTrigger) Error() string {
	return fmt.Sprintf("unknown trigger %q; known triggers: %s", shorten(e.Name, 60), strings.Join(e.Known, ", "))
}

// SwitchedOff returns what disables a trigger at present: a configuration key, or "the workflow". It
// is "" if the trigger makes checkpoints. The first key that is set decides, in this order:
// checkpoint.enabled and checkpoint.auto (not for manual and triggers by hand), each only if it is false;
// checkpoint.<trigger>.enabled; checkpoint.<group>.enabled; and last the definition. Safety
// checkpoints cannot be switched off, because a rollback without one could not be undone.
func (d *Definition) SwitchedOff(name string, config Config) (by string, err error) {
	t, known := d.trigger(name)
	if !known {
		return "", &UnknownTrigger{name, d.TriggerNames()}
	}
	if name != TriggerSafety {
		if by, err = t.switchedOff(name, config); err != nil {
			return "", err
		}
	}
	_, _, err = d.Retention.limit(name, config)
	return by, err
}

// TriggerNames returns the triggers of this workflow, including those that every workflow has,
// sorted.
func (d *Definition) TriggerNames() []string {
	names := append(sortedKeys(d.Triggers), TriggerManual, TriggerSafety)
	names = append(names, automatic()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// trigger returns the definition's entry for a trigger, or the one that every workflow has. The
// entry for safety cannot be redefined.
func (d *Definition) trigger(name string) (t Trigger, known bool) {
	if name == TriggerSafety {
		return Trigger{Exempt: true, Hangs: hangsLast}, true
	}
	if t, ok := d.Triggers[name]; ok {
		return t, true
	}
	switch {
	case name == TriggerManual:
		return Trigger{Milestone: true}, true
	// Rules judge the result of a step, and at this point it has not begun.
	case name == TriggerRun:
		return Trigger{Exempt: true, Hangs: hangsLast}, true
	// The state stays, or goes back to what the rules have seen before. Only the command itself
	// makes such a checkpoint.
	case name == TriggerRevert:
		return Trigger{Exempt: true, ByHand: true, Hangs: hangsLast}, true
	case slices.Contains(automatic(), name):
		return Trigger{}, true
	}
	if d.OtherTriggers != nil && isWord(name) {
		return *d.OtherTriggers, true
	}
	return Trigger{}, false
}

// switchedOff is SwitchedOff for the entry of a trigger that can be switched off.
func (t Trigger) switchedOff(name string, config Config) (by string, err error) {
	masters := []string{"checkpoint.enabled"}
	if name != TriggerManual && !t.ByHand {
		masters = append(masters, "checkpoint.auto")
	}
	for _, key := range masters {
		if on, set, err := boolean(config, key); err != nil || set && !on {
			return key, err
		}
	}
	own := []string{"checkpoint." + name + ".enabled"}
	if t.Group != "" {
		own = append(own, "checkpoint."+t.Group+".enabled")
	}
	for _, key := range own {
		on, set, err := boolean(config, key)
		switch {
		case err != nil:
			return key, err
		case set && on:
			return "", nil
		case set:
			return key, nil
		}
	}
	if t.Off {
		return "the workflow", nil
	}
	return "", nil
}

// Waits reports whether checkpoints of a trigger are made because somebody decided to. Those of
// agents, of the watcher, at an interrupt or before a rollback are not: they only keep what is there,
// and are made while a session is blocked or paused.
func (d *Definition) Waits(trigger string) bool {
	return trigger != TriggerSafety && !slices.Contains(automatic(), trigger)
}

// Blocks reports whether a failed milestone keeps its session from going on.
func (d *Definition) Blocks() bool { return d.Failure == "block" }

// CommitsSteps reports whether each milestone is also a commit on the session's branch.
func (d *Definition) CommitsSteps() bool { return d.Commit == "step" }

// EndsPause reports whether the next checkpoint ends a pause.
func (d *Definition) EndsPause() bool { return d.Statuses.Paused == "create" }

// boolean reads a boolean in the notation of git's configuration. set is false if the key is
// absent.
func boolean(config Config, key string) (on, set bool, err error) {
	value, set := config.get(key)
	if !set {
		return false, false, nil
	}
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "yes", "on", "1":
		return true, true, nil
	case "false", "no", "off", "0", "":
		return false, true, nil
	}
	return false, true, fmt.Errorf("%s is %q, not a boolean", key, shorten(value, 60))
}
