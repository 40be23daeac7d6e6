package workflow

import (
	"reflect"
	"strings"
)

// verifyPaths checks every member that is a path into a document. Paths are names with dots and
// nothing else: the library that evaluates them would also accept wildcards and queries of
// unbounded cost.
func (d *Definition) verifyPaths(found *problems) {
	path := func(member, text string) {
		if text != "" && !isPath(text, "") {
			found.add(member, "%q is not a path: names of A-Z a-z 0-9 _ - with dots between", shorten(text, 80))
		}
	}
	members := func(at string, m Members) {
		v := reflect.ValueOf(m)
		for i := range v.NumField() {
			tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			path(join(at, tag), v.Field(i).String())
		}
	}
	members("document.record", d.Document.Record)
	members("state.members", d.State.Members)
	d.verifyBetter(found)
	if _, err := patternSteps(d.Session.Pattern); err != nil {
		found.add("session.pattern", "%v", err)
	}
	for i, list := range d.Session.KnownBy {
		for j, member := range list {
			path(at(at("session.known_by", i), j), member)
		}
		if len(list) == 0 {
			found.add(at("session.known_by", i), "an empty list would match any document")
		}
	}
	for i, f := range d.Document.Forms {
		path(at("document.forms", i)+".record", f.Record)
		path(at("document.forms", i)+".state", f.State)
		if f.State == "" {
			found.add(at("document.forms", i), "a form needs the path of its state")
		}
		for j, with := range f.With {
			path(at(at("document.forms", i)+".with", j), with)
		}
	}
	for _, list := range sortedKeys(d.Diff.Identity) {
		path(join("diff.identity", list), list)
		for i, member := range d.Diff.Identity[list] {
			path(at(join("diff.identity", list), i), member)
		}
	}
	for i, file := range d.Resumption.Files {
		path(at("resume.files", i), file)
	}
	for _, what := range sortedKeys(d.Resumption.Restore) {
		path(join("resume.restore", what), d.Resumption.Restore[what])
	}
	path("resume.freshness.snapshot", d.Resumption.Freshness.Snapshot)
	for i, m := range d.Resumption.Freshness.Issue {
		path(at("resume.freshness.issue", i)+".member", m.Member)
		path(at("resume.freshness.issue", i)+".mark", m.Mark)
	}
	path("settings_in", d.SettingsIn)
	for i, s := range d.Settings {
		path(at("settings", i)+".from", strings.ReplaceAll(s.From, "*", "any"))
	}
}

// verifyBetter checks the words of state.better.
func (d *Definition) verifyBetter(found *problems) {
	for _, metric := range sortedKeys(d.State.Better) {
		if better := d.State.Better[metric]; better != BetterHigh && better != BetterLow {
			found.add(join("state.better", metric), "%q is neither high nor low", shorten(string(better), 80))
		}
	}
}

// checker compiles the expressions and templates of a definition and collects the errors. The
// compiled forms stay in the definition's cache.
type checker struct {
	d     *Definition
	found *problems
}

// condition checks an optional expression that must be a boolean.
func (c checker) condition(s scope, path, text string) {
	if text != "" {
		if _, err := c.d.compile(s, text, "bool"); err != nil {
			c.found.add(path, "%v", err)
		}
	}
}

// value checks an optional expression of any type.
func (c checker) value(s scope, path, text string) {
	if text != "" {
		if _, err := c.d.compile(s, text, ""); err != nil {
			c.found.add(path, "%v", err)
		}
	}
}

// template checks a template; the empty one is valid.
func (c checker) template(s scope, path, text string) {
	if _, err := c.d.template(s, text); err != nil {
		c.found.add(path, "%v", err)
	}
}

// verifyExpressions compiles every expression and template in the scope in which it will run.
func (d *Definition) verifyExpressions(found *problems) {
	c := checker{d, found}
	c.template(sessionScope(), "session.name", d.Session.Name)
	c.template(sessionScope(), "session.branch", d.Session.Branch)
	c.template(sessionScope(), "session.checkpoint", d.Session.Checkpoint)
	for _, name := range sortedKeys(d.Values) {
		// A value must not hide a variable or a function.
		if _, taken := ruleScope().vars[name]; taken || !isIdentifier(name) || isFunction(name) {
			found.add(join("values", name), "%q is already taken", shorten(name, 60))
			continue
		}
		c.value(ruleScope(), join("values", name), d.Values[name])
	}
	for i, v := range d.Derivations {
		path := at("derive", i)
		if !isPath(v.Path, "") {
			found.add(path+".path", "%q is not a path", shorten(v.Path, 80))
		}
		if v.Value == "" {
			found.add(path, "a value is required")
		}
		c.condition(c.d.ruleScope(), path+".when", v.When)
		c.value(c.d.ruleScope(), path+".value", v.Value)
	}
	c.rules(d.Rules)
	c.resume(d.Resumption)
	for _, status := range sortedKeys(d.NextActions) {
		c.template(resumeScope(), join("next_action", status), d.NextActions[status])
	}
	known := Default().Messages
	for _, key := range sortedKeys(d.Messages) {
		if _, ok := known[key]; !ok && d.Name != DefaultName {
			found.add(join("messages", key), "unknown message; known messages: %s", strings.Join(sortedKeys(known), ", "))
		}
		c.template(messageScope(), join("messages", key), d.Messages[key])
	}
}

// rules checks that rules are complete, have distinct names and compile.
func (c checker) rules(rules []Rule) {
	names := map[string]bool{}
	for i, r := range rules {
		path := at("rules", i)
		if !isWord(r.Name) || names[r.Name] {
			c.found.add(path+".name", "%q is not a name of its own", shorten(r.Name, 60))
		}
		names[r.Name] = true
		if r.Check == "" || r.Message == "" {
			c.found.add(path, "check and message are required")
		}
		if r.Path != "" && !isPath(r.Path, "") {
			c.found.add(path+".path", "%q is not a path", shorten(r.Path, 80))
		}
		c.condition(c.d.ruleScope(), path+".when", r.When)
		c.condition(c.d.ruleScope(), path+".check", r.Check)
		c.value(c.d.ruleScope(), path+".value", r.Value)
		c.template(c.d.ruleScope(), path+".allowed", r.Allowed)
		c.template(c.d.ruleScope(), path+".message", r.Message)
	}
}

// resume compiles the expressions and templates of the member resume.
func (c checker) resume(r ResumeRules) {
	s := resumeScope()
	c.value(s, "resume.completed", r.Completed)
	c.value(s, "resume.pending", r.Pending)
	c.value(s, "resume.batches", r.Batches)
	c.value(s, "resume.progress.done", r.Progress.Done)
	c.value(s, "resume.progress.total", r.Progress.Total)
	c.template(s, "resume.progress.text", r.Progress.Text)
	c.template(s, "resume.point", r.Point)
	c.condition(s, "resume.can_resume", r.CanResume)
	c.template(s, "resume.refusal", r.Refusal)
	c.value(s, "resume.prerequisites", r.Prerequisites)
	c.value(s, "resume.warnings", r.Warnings)
	for _, status := range sortedKeys(r.Statuses) {
		path, a := join("resume.statuses", status), r.Statuses[status]
		c.template(s, path+".message", a.Message)
		c.template(s, path+".question", a.Question)
		c.template(s, path+".warning", a.Warning)
		c.template(s, path+".point", a.Point)
	}
}
