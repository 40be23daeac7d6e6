package workflow

import (
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// verify reports everything in a decoded definition that is wrong beyond the types of its members.
// It builds the schema as well, so that errors in it are found now and it need not be built again.
func (d *Definition) verify(found *problems) {
	if !isWord(d.Name) || strings.ToLower(d.Name) != d.Name {
		found.add("name", "%q is not a name: use 1 to 40 of a-z 0-9 _ -, starting with a letter or digit", shorten(d.Name, 60))
	}
	if d.Version == "" || len(d.Version) > 40 {
		found.add("version", "a version of 1 to 40 characters is required")
	}
	d.verifySteps(found)
	d.verifyTriggers(found)
	d.verifyStatuses(found)
	d.verifyRetention(found)
	d.verifyDocuments(found)
	d.verifyRules(found)
	d.verifyTexts(found)
	for i, s := range d.Settings {
		// A setting that only explains why a member is not used has no key to check.
		if s.Unused != "" && s.Key == "" {
			continue
		}
		// Restricting the keys to checkpoint.* keeps a foreign configuration file from setting
		// anything else in git's configuration.
		if !isPath(s.Key, "*") || !strings.HasPrefix(s.Key, "checkpoint.") || strings.Count(s.Key, ".") > 2 {
			found.add(at("settings", i)+".key", "%q is not a key such as checkpoint.maxSize", shorten(s.Key, 60))
		}
		if strings.Count(s.From, "*") > 1 || strings.Count(s.From, "*") != strings.Count(s.Key, "*") {
			found.add(at("settings", i)+".from", "one \"*\" in both from and key, or none")
		}
	}
	if d.State.Schema != nil {
		built := buildSchema(d.State.Schema, found)
		d.schema.Do(func() { d.schema.stateSchema = built })
	}
}

// maxStepNumber keeps step numbers readable and their arithmetic far from overflow.
const maxStepNumber = 1_000_000

// verifySteps checks the list and the pattern of steps.
func (d *Definition) verifySteps(found *problems) {
	names := map[string]bool{}
	for i, s := range d.Steps.List {
		path := at("steps.list", i)
		if s.Number < 0 || s.Number > maxStepNumber {
			found.add(path+".number", "%d is not in 0 to %d", s.Number, maxStepNumber)
		}
		if i > 0 && s.Number <= d.Steps.List[i-1].Number {
			found.add(path+".number", "%d does not come after %d", s.Number, d.Steps.List[i-1].Number)
		}
		slug := name.Slug(s.Name)
		// Labels contain slugs, so two names with the same slug could not be told apart.
		if s.Name != "" && (slug == "" || names[slug]) {
			found.add(path+".name", "%q leaves no part of its own for labels", shorten(s.Name, 60))
		}
		names[slug] = true
	}
	if p := d.Steps.Pattern; p != "" && (strings.Count(p, stepNumber) != 1 || name.Slug(p) == "" || len(p) > 40) {
		found.add("steps.pattern", "%q must contain %s once, and have at most 40 characters", shorten(p, 60), stepNumber)
	}
	if d.Steps.First != nil && (*d.Steps.First < 0 || *d.Steps.First > maxStepNumber) {
		found.add("steps.first", "%d is not in 0 to %d", *d.Steps.First, maxStepNumber)
	}
	oneOf(found, "steps.requires", d.Steps.Requires, "", requiresPrevious)
	oneOf(found, "steps.follow", d.Steps.Follow, "", followDocument, followState)
}

// verifyTriggers checks the names and the words of all triggers.
func (d *Definition) verifyTriggers(found *problems) {
	check := func(path string, t Trigger) {
		oneOf(found, path+".again", t.Again, "", againHang, againIterate)
		oneOf(found, path+".hangs", t.Hangs, "", hangsPhase, hangsLast)
		if t.Group != "" && !isWord(t.Group) {
			found.add(path+".group", "%q is not a name", shorten(t.Group, 60))
		}
	}
	for _, trigger := range sortedKeys(d.Triggers) {
		path := join("triggers", trigger)
		if !isWord(trigger) {
			found.add(path, "%q is not a name of a trigger", shorten(trigger, 60))
		}
		if trigger == TriggerSafety {
			found.add(path, "%s belongs to rollback and cannot be redefined", TriggerSafety)
		}
		check(path, d.Triggers[trigger])
	}
	if d.OtherTriggers != nil {
		check("other_triggers", *d.OtherTriggers)
	}
}

// verifyStatuses checks the list of statuses and every member that refers to a status.
func (d *Definition) verifyStatuses(found *problems) {
	known := func(path, status string) {
		if !isWord(status) {
			found.add(path, "%q is not a name of a status", shorten(status, 60))
		} else if len(d.Statuses.List) > 0 && !d.Statuses.Open && !slices.Contains(d.Statuses.List, status) {
			found.add(path, "%q is not in statuses.list: %s", status, strings.Join(d.Statuses.List, ", "))
		}
	}
	for i, status := range d.Statuses.List {
		known(at("statuses.list", i), status)
	}
	if d.Statuses.Initial != "" {
		known("statuses.initial", d.Statuses.Initial)
	}
	for _, from := range sortedKeys(d.Statuses.Transitions) {
		known(join("statuses.transitions", from), from)
		for i, to := range d.Statuses.Transitions[from] {
			known(at(join("statuses.transitions", from), i), to)
		}
	}
	for _, status := range sortedKeys(d.Statuses.Closes) {
		known(join("statuses.closes", status), status)
		oneOf(found, join("statuses.closes", status), d.Statuses.Closes[status], sessionStatuses()...)
	}
	for _, status := range sortedKeys(d.NextActions) {
		if status != anyOther {
			known(join("next_action", status), status)
		}
	}
	for _, status := range sortedKeys(d.Resumption.Statuses) {
		path := join("resume.statuses", status)
		if status != anyOther {
			known(path, status)
		}
		answer := d.Resumption.Statuses[status]
		oneOf(found, path+".action", answer.Action, string(ActionResume), string(ActionAsk), string(ActionRefuse))
		if answer.Action == string(ActionAsk) && answer.Question == "" {
			found.add(path, "action \"ask\" needs a question")
		}
	}
}

// verifyRetention checks numbers and ages, and the words of resume.freshness.
func (d *Definition) verifyRetention(found *problems) {
	age := func(path, text string) {
		if text != "" {
			if _, err := ParseAge(text); err != nil {
				found.add(path, "%v", err)
			}
		}
	}
	r := d.Retention
	if r.Keep != nil && *r.Keep < -1 {
		found.add("retention.keep", "%d is not -1 or more", *r.Keep)
	}
	for _, trigger := range sortedKeys(r.Triggers) {
		path, keep := join("retention.triggers", trigger), r.Triggers[trigger]
		if _, known := d.trigger(trigger); !known {
			found.add(path, "%q is not one of the triggers", shorten(trigger, 60))
		}
		if keep.Last < -1 {
			found.add(path+".last", "%d is not -1 or more", keep.Last)
		}
		if keep.Steps < -1 {
			found.add(path+".steps", "%d is not -1 or more", keep.Steps)
		}
		age(path+".after", keep.After)
		oneOf(found, path+".per", keep.Per, "", perSession, perPhase)
	}
	for _, status := range sortedKeys(r.Sessions) {
		path := join("retention.sessions", status)
		oneOf(found, path, status, append(sessionStatuses(), anyOther)...)
		if r.Sessions[status] != keepsAlways {
			age(path, r.Sessions[status])
		}
	}
	age("retention.discarded", r.Discarded)
	age("retention.safety", r.Safety)
	f := d.Resumption.Freshness
	for path, word := range map[string]string{"branch": f.Branch, "files": f.Files} {
		oneOf(found, "resume.freshness."+path, word, "", freshIgnore, freshWarn, freshAsk, freshRefuse)
	}
	for i, m := range f.Issue {
		oneOf(found, at("resume.freshness.issue", i)+".changed", m.Changed, freshWarn, freshAsk, freshRefuse)
	}
}

// sessionStatuses lists the statuses with which a session can be closed.
func sessionStatuses() []string { return []string{"complete", "failed", "abandoned"} }

// oneOf reports a word that is not in known. An empty string in known means that the word is
// optional; it is not shown.
func oneOf(found *problems, path, word string, known ...string) {
	if slices.Contains(known, word) {
		return
	}
	known = slices.DeleteFunc(known, func(s string) bool { return s == "" })
	found.add(path, "%q is not one of %s", shorten(word, 60), strings.Join(known, ", "))
}
