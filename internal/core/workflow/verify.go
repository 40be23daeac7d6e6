package workflow

import (
	"strings"

	"git-checkpoint/internal/format/name"
)

// verifier reports everything in a decoded definition that is wrong beyond the types of its members.
type verifier struct {
	*Definition
	*problems
}

// verify builds the schema as well, so that errors in it are found now and it need not be built
// again.
func (d verifier) verify() {
	if !isWord(d.Name) || strings.ToLower(d.Name) != d.Name {
		d.add("name", "%q is not a name: use 1 to 40 of a-z 0-9 _ -, starting with a letter or digit", shorten(d.Name, 60))
	}
	if d.Version == "" || len(d.Version) > 40 {
		d.add("version", "a version of 1 to 40 characters is required")
	}
	d.steps()
	d.triggers()
	d.retention()
	d.documents()
	d.rules()
	d.texts()
	for _, status := range sortedKeys(d.Resumption.Statuses) {
		answer := d.Resumption.Statuses[status]
		if answer.Action == string(ActionAsk) && answer.Question == "" {
			d.add(join("resume.statuses", status), "action \"ask\" needs a question")
		}
	}
	for i, s := range d.Settings {
		// A setting that only explains why a member is not used has no key to check.
		if s.Unused != "" && s.Key == "" {
			continue
		}
		// Restricting the keys to checkpoint.* keeps a foreign configuration file from setting
		// anything else in git's configuration.
		if !isPath(s.Key, "*") || !strings.HasPrefix(s.Key, "checkpoint.") || strings.Count(s.Key, ".") > 2 {
			d.add(itemPath("settings", i)+".key", "%q is not a key such as checkpoint.maxSize", shorten(s.Key, 60))
		}
		if strings.Count(s.From, "*") > 1 || strings.Count(s.From, "*") != strings.Count(s.Key, "*") {
			d.add(itemPath("settings", i)+".from", "one \"*\" in both from and key, or none")
		}
	}
	if d.State.Schema != nil {
		built := buildSchema(d.State.Schema, d.problems)
		d.schema.Do(func() { d.schema.stateSchema = built })
	}
}

// maxStepNumber keeps step numbers readable and their arithmetic far from overflow.
const maxStepNumber = 1_000_000

// steps checks the list and the pattern of steps.
func (d verifier) steps() {
	names := map[string]bool{}
	for i, s := range d.Steps.List {
		path := itemPath("steps.list", i)
		if s.Number < 0 || s.Number > maxStepNumber {
			d.add(path+".number", "%d is not in 0 to %d", s.Number, maxStepNumber)
		}
		if i > 0 && s.Number <= d.Steps.List[i-1].Number {
			d.add(path+".number", "%d does not come after %d", s.Number, d.Steps.List[i-1].Number)
		}
		slug := name.Slug(s.Name)
		// Labels contain slugs, so two names with the same slug could not be told apart.
		if s.Name != "" && (slug == "" || names[slug]) {
			d.add(path+".name", "%q leaves no part of its own for labels", shorten(s.Name, 60))
		}
		names[slug] = true
	}
	if p := d.Steps.Pattern; p != "" && (strings.Count(p, stepNumber) != 1 || name.Slug(p) == "" || len(p) > 40) {
		d.add("steps.pattern", "%q must contain %s once, and have at most 40 characters", shorten(p, 60), stepNumber)
	}
	if d.Steps.First != nil && (*d.Steps.First < 0 || *d.Steps.First > maxStepNumber) {
		d.add("steps.first", "%d is not in 0 to %d", *d.Steps.First, maxStepNumber)
	}
}

// triggers checks the names of triggers and groups.
func (d verifier) triggers() {
	group := func(path string, t Trigger) {
		if t.Group != "" && !isWord(t.Group) {
			d.add(path+".group", "%q is not a name", shorten(t.Group, 60))
		}
	}
	for _, trigger := range sortedKeys(d.Triggers) {
		path := join("triggers", trigger)
		if !isWord(trigger) {
			d.add(path, "%q is not a name of a trigger", shorten(trigger, 60))
		}
		if trigger == TriggerSafety {
			d.add(path, "%s belongs to rollback and cannot be redefined", TriggerSafety)
		}
		group(path, d.Triggers[trigger])
	}
	if d.OtherTriggers != nil {
		group("other_triggers", *d.OtherTriggers)
	}
}
