package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Triggers that every workflow knows.
const (
	TriggerManual        = "manual"
	TriggerUserInterrupt = "user_interrupt"
	TriggerSessionEnd    = "session_end"
	TriggerSafety        = "safety"
	TriggerRun           = "run" // what is there before the first try of a step
)

// automatic are triggers that every workflow knows, for what programs around this one
// tell it of. They are no milestones.
func automatic() []string {
	return []string{TriggerRun, TriggerUserInterrupt, TriggerSessionEnd, "prompt", "tool", "turn", "watch", "promote", "compaction", "subagent"}
}

// Config looks a configuration key up; ok is false when it is not set.
type Config func(key string) (value string, ok bool)

// Occasion is what a trigger means here and now.
type Occasion struct {
	// Name of the trigger.
	Name string
	// Enabled is false when it makes no checkpoint; Off then says why.
	Enabled bool
	// Off is the configuration key, or "the workflow", that switched it off.
	Off string
	// Milestone says that its checkpoints take a step number.
	Milestone bool
	// Exempt says that schema, transitions and rules do not apply.
	Exempt bool
	// Keep is how many of its checkpoints retention leaves.
	Keep Keep
}

// UnknownTrigger refuses a trigger that the workflow does not have.
type UnknownTrigger struct {
	// Name is what was asked for, Known what there is.
	Name  string
	Known []string
}

// Error names the triggers that there are.
func (e *UnknownTrigger) Error() string {
	return fmt.Sprintf("unknown trigger %q; known are %s", shorten(e.Name, 60), strings.Join(e.Known, ", "))
}

// Trigger resolves a trigger under configuration: checkpoint.enabled, then
// checkpoint.auto (all but manual), then checkpoint.<trigger>.enabled, then that
// of its group, then the definition. A safety checkpoint cannot be switched off:
// without it a rollback would lose something.
func (d *Definition) Trigger(name string, config Config) (Occasion, error) {
	t, known := d.trigger(name)
	if !known {
		return Occasion{}, &UnknownTrigger{name, d.TriggerNames()}
	}
	o := Occasion{Name: name, Enabled: true, Milestone: t.Milestone, Exempt: t.Exempt}
	if name != TriggerSafety {
		off, err := d.switchedOff(name, t, config)
		if err != nil {
			return Occasion{}, err
		}
		o.Enabled, o.Off = off == "", off
	}
	keep, err := d.keep(name, config)
	o.Keep = keep
	return o, err
}

// TriggerNames lists the triggers of this workflow, sorted.
func (d *Definition) TriggerNames() []string {
	names := append(sortedKeys(d.Triggers), TriggerManual, TriggerSafety)
	names = append(names, automatic()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// trigger gives the definition's own entry, else the one that every workflow has.
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
	case name == TriggerRun: // the rules are about the step, which has not begun
		return Trigger{Exempt: true, Hangs: hangsLast}, true
	case slices.Contains(automatic(), name):
		return Trigger{}, true
	}
	if d.OtherTriggers != nil && isWord(name) {
		return *d.OtherTriggers, true
	}
	return Trigger{}, false
}

// switchedOff names what disables a trigger, "" when it is on.
func (d *Definition) switchedOff(name string, t Trigger, config Config) (string, error) {
	masters := []string{"checkpoint.enabled"}
	if name != TriggerManual {
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

func (d *Definition) keep(name string, config Config) (Keep, error) {
	keep, ok := d.Retention.Triggers[name]
	if !ok {
		keep = Keep{Last: -1}
	}
	if config == nil {
		return keep, nil
	}
	key := "checkpoint." + name + ".keep"
	value, set := config(key)
	if !set {
		return keep, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < -1 {
		return keep, fmt.Errorf("%s is %q, not a number of -1 or more", key, shorten(value, 60))
	}
	keep.Last = n
	return keep, nil
}

// boolean reads a value as git does.
func boolean(config Config, key string) (on, set bool, err error) {
	if config == nil {
		return false, false, nil
	}
	value, set := config(key)
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
