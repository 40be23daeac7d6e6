package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/lazy"

	"github.com/tidwall/gjson"
)

// KeyValue is one configuration setting of this program.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Configured is a foreign configuration, translated.
type Configured struct {
	Settings []KeyValue
	Unused   []string // paths of members without an equivalent here, with the reason if it is known
}

// Configuration translates a foreign configuration document, given as JSON, with the definition's
// settings. Members that no setting covers are listed in Unused. A value of the wrong type is an
// error.
func (d *Definition) Configuration(document json.RawMessage) (Configured, error) {
	if err := checkDocument(document); err != nil {
		return Configured{}, err
	}
	t := translation{d: d, root: gjson.ParseBytes(document), used: map[string]bool{}}
	if inner := get(t.root, d.SettingsIn); inner.IsObject() {
		t.within, t.root = d.SettingsIn+".", inner
	}
	for _, s := range d.Settings {
		if err := t.apply(s); err != nil {
			return Configured{}, err
		}
	}
	t.leave("", t.root)
	return t.Configured, nil
}

// translation is one call of Configuration.
type translation struct {
	Configured
	d      *Definition
	root   gjson.Result
	within string          // prefix of every path in messages
	used   map[string]bool // paths that a setting covers
}

// apply applies one setting. Its path may have a "*", which then matches every name of a trigger or
// group in the object at that place. A list in that place names the triggers that are on, see
// switches.
func (t *translation) apply(s Setting) error {
	before, after, wild := strings.Cut(s.From, "*")
	if !wild {
		return t.set(s, s.Key, s.From, t.root.Get(s.From))
	}
	group := get(t.root, strings.TrimSuffix(before, "."))
	if group.IsArray() && after == "" && strings.HasSuffix(s.Key, ".enabled") {
		t.used[strings.TrimSuffix(before, ".")] = true
		for _, name := range group.Array() {
			if !t.isTriggerOrGroup(name.String()) {
				t.Unused = append(t.Unused, t.within+before+name.String())
			}
		}
		on, _ := value(json.RawMessage(group.Raw)).([]any)
		t.switches(s, set(on))
		return nil
	}
	var err error
	group.ForEach(func(name, value gjson.Result) bool {
		if !t.isTriggerOrGroup(name.String()) {
			return true
		}
		if after != "" {
			value = value.Get(strings.TrimPrefix(after, "."))
		}
		err = t.set(s, strings.Replace(s.Key, "*", name.String(), 1), before+name.String()+after, value)
		return err == nil
	})
	return err
}

// switches reads a list of triggers that are on and turns the others off. The triggers that every
// workflow has are left alone, because a foreign system does not know them.
func (t *translation) switches(s Setting, on map[string]bool) {
	for _, name := range sortedKeys(t.d.Triggers) {
		trigger := t.d.Triggers[name]
		if name == TriggerManual || slices.Contains(automatic(), name) {
			continue
		}
		listed := on[identity(name)] || trigger.Group != "" && on[identity(trigger.Group)]
		t.Settings = append(t.Settings, KeyValue{strings.Replace(s.Key, "*", name, 1), fmt.Sprint(listed)})
	}
}

// isTriggerOrGroup reports whether the workflow has a trigger, or a group of triggers, of that
// name.
func (t *translation) isTriggerOrGroup(name string) bool {
	if _, known := t.d.trigger(name); known && isWord(name) {
		return true
	}
	for _, trigger := range t.d.Triggers {
		if trigger.Group == name && name != "" {
			return true
		}
	}
	return false
}

// set adds one scalar value under key, after converting or checking it as the key requires. from is
// its path in the document. Absent values, nulls, lists and objects are not used; the latter two
// are left for leave to report.
func (t *translation) set(s Setting, key, from string, value gjson.Result) error {
	if !value.Exists() || value.IsObject() || value.IsArray() || value.Type == gjson.Null {
		return nil
	}
	t.used[from] = true
	if s.Unused != "" {
		t.Unused = append(t.Unused, t.within+from+": "+s.Unused)
		return nil
	}
	text := value.String()
	switch {
	case strings.HasSuffix(key, ".keep"):
		if text = kept(text); text == "" {
			return fmt.Errorf("%s%s is %s, not a number or \"all\"", t.within, from, shorten(value.Raw, 60))
		}
	case strings.HasSuffix(key, ".enabled") || key == "checkpoint.auto":
		if _, set, err := boolean(func(string) (string, bool) { return text, true }, key); err != nil || !set {
			return fmt.Errorf("%s%s is %s, not true or false", t.within, from, shorten(value.Raw, 60))
		}
	case s.Suffix != "" && (!hasOnly(value.Raw, "0123456789") || len(value.Raw) > 9):
		return fmt.Errorf("%s%s is %s, not a whole number", t.within, from, shorten(value.Raw, 60))
	}
	t.Settings = append(t.Settings, KeyValue{key, text + s.Suffix})
	return nil
}

// keptPattern matches the ways in which people write a number of checkpoints to keep: 3, last_3,
// last 3 per phase.
var keptPattern = lazy.Pattern(`(?i)^(?:(?:keep|last)[ _-]*)*(\d{1,6})(?:[ _-]*per[ _-]*phase)?$`)

// kept converts such a text to the value of checkpoint.<trigger>.keep: "-1" for all, "" if it does
// not match.
func kept(text string) string {
	if slices.Contains([]string{"all", "keep_all", "-1"}, strings.ToLower(text)) {
		return "-1"
	}
	if m := keptPattern().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// leave reports the members that no setting used.
func (t *translation) leave(at string, v gjson.Result) {
	v.ForEach(func(name, value gjson.Result) bool {
		switch p := join(at, name.String()); {
		case t.used[p]:
		case value.IsObject():
			t.leave(p, value)
		default:
			t.Unused = append(t.Unused, t.within+p)
		}
		return true
	})
}
