package workflow

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A broken definition is refused with the line and the member.
func TestBrokenDefinitionsAreNamed(t *testing.T) {
	for _, c := range []struct{ about, text, want string }{
		{"no JSON", "{\n\"name\": \"x\",\n}", `w.json:3: not valid JSON`},
		{"no object", `[]`, `w.json:1: a list where an object`},
		{"twice", "{\"name\": \"x\",\n\"name\": \"y\"}", `w.json:2: member "name" occurs twice`},
		{"no name", `{"version": "1"}`, `w.json:1: name: "" is not a name`},
		{"no version", `{"name": "x"}`, `w.json:1: version: a version`},
		{"capital name", "{\n\"name\": \"Go\", \"version\": \"1\"}", `w.json:2: name: "Go"`},
		{"path name", `{"name": "../x", "version": "1"}`, `name: "../x"`},
		{"unknown member", "{\"name\": \"x\", \"version\": \"1\",\n\"rule\": []}", `w.json:2: rule: unknown member; known members: commit, derive, description`},
		{"unknown inside", `{"name": "x", "version": "1", "steps": {"list": [{"number": 1, "repeat": true}]}}`, `steps.list[0].repeat: unknown member`},
		{"another case", `{"Name": "x", "version": "1"}`, `Name: unknown member`},
		{"wrong kind", "{\"name\": \"x\", \"version\": \"1\",\n \"rules\": [\n{\"name\": 7}]}", `w.json:3: rules[0].name: a number where a text is expected`},
		{"null", `{"name": null, "version": "1"}`, `name: null where a text`},
		{"fraction", `{"name": "x", "version": "1", "steps": {"list": [{"number": 1.5}]}}`, `steps.list[0].number: a number where a whole number`},
		{"no expression", rule(`"check": "new.a ="`), `rules[0].check: expression "new.a ="`},
		{"no condition", rule(`"check": "step"`), `rules[0].check: expression "step": expected bool, but got int`},
		{"unknown variable", rule(`"check": "nwe.a == 1"`), `unknown name nwe`},
		{"unknown variable in a call", rule(`"check": "subset(nwe, new.a)"`), `unknown name nwe`},
		{"unknown variable in a loop of a call", rule(`"check": "len(filter(new.a, # + nwe > 1)) == 0"`), `unknown name nwe`},
		{"wrong arguments in a call", rule(`"check": "len(union(subset(new.a))) == 0"`), `not enough arguments`},
		{"other types", rule(`"check": "status == 1"`), `mismatched types`},
		{"scope", rule(`"check": "pending == nil"`), `unknown name pending`},
		{"unknown function", rule(`"check": "exec('rm')"`), `rules[0].check: an expression may not have a call of exec, which is not a function`},
		{"wrong arguments", rule(`"check": "subset(new.a)"`), `not enough arguments`},
		{"template", rule(`"check": "true", "message": "{nwe}"`), `rules[0].message: expression "nwe"`},
		{"open brace", rule(`"check": "true", "message": "{new"`), `rules[0].message: a '{' without '}'`},
		{"no check", rule(`"path": "a"`), `rules[0]: check and message are required`},
		{"path", rule(`"check": "true", "path": "a.#(b==1)"`), `rules[0].path: "a.#(b==1)" is not a path`},
		{"rule twice", `{"name": "x", "version": "1", "rules": [{"name": "r", "check": "true", "message": "m"}, {"name": "r", "check": "true", "message": "m"}]}`, `rules[1].name: "r"`},
		{"steps backwards", `{"name": "x", "version": "1", "steps": {"list": [{"number": 2}, {"number": 1}]}}`, `steps.list[1].number: 1 does not come after 2`},
		{"steps of one name", `{"name": "x", "version": "1", "steps": {"list": [{"number": 1, "name": "A b"}, {"number": 2, "name": "a-b"}]}}`, `steps.list[1].name`},
		{"pattern", `{"name": "x", "version": "1", "steps": {"pattern": "phase"}}`, `steps.pattern: "phase" must contain {N} once`},
		{"requires", `{"name": "x", "version": "1", "steps": {"requires": "all"}}`, `steps.requires: "all" is not one of previous`},
		{"safety", `{"name": "x", "version": "1", "triggers": {"safety": {}}}`, `triggers.safety: safety belongs`},
		{"trigger", `{"name": "x", "version": "1", "triggers": {"a b": {}}}`, `triggers.a b`},
		{"transition", `{"name": "x", "version": "1", "statuses": {"list": ["a"], "transitions": {"a": ["b"]}}}`, `statuses.transitions.a[0]: "b" is not in statuses.list: a`},
		{"answer", `{"name": "x", "version": "1", "statuses": {"list": ["a"]}, "resume": {"statuses": {"b": {"action": "resume"}}}}`, `resume.statuses.b: "b" is not in`},
		{"action", `{"name": "x", "version": "1", "resume": {"statuses": {"*": {"action": "stop"}}}}`, `resume.statuses.*.action: "stop" is not one of resume, ask, refuse`},
		{"question", `{"name": "x", "version": "1", "resume": {"statuses": {"*": {"action": "ask"}}}}`, `resume.statuses.*: action "ask" needs a question`},
		{"freshness", `{"name": "x", "version": "1", "resume": {"freshness": {"files": "panic"}}}`, `resume.freshness.files: "panic"`},
		{"age", `{"name": "x", "version": "1", "retention": {"sessions": {"failed": "a month"}}}`, `retention.sessions.failed: "a month"`},
		{"age of an unknown status", `{"name": "x", "version": "1", "retention": {"sessions": {"done": "7d"}}}`, `retention.sessions.done: "done" is not one of complete, failed, abandoned, *`},
		{"closes as", `{"name": "x", "version": "1", "statuses": {"closes": {"over": "done"}}}`, `statuses.closes.over: "done" is not one of complete, failed, abandoned`},
		{"keep", `{"name": "x", "version": "1", "retention": {"keep": -2}}`, `retention.keep: -2`},
		{"keeps what", `{"name": "x", "version": "1", "retention": {"triggers": {"nightly": {"last": 1}}}}`, `retention.triggers.nightly: "nightly" is not one of the triggers`},
		{"keeps per", `{"name": "x", "version": "1", "retention": {"triggers": {"manual": {"last": 1, "per": "week"}}}}`, `retention.triggers.manual.per: "week"`},
		{"keeps until", `{"name": "x", "version": "1", "retention": {"triggers": {"manual": {"last": 1, "after": "soon"}}}}`, `retention.triggers.manual.after: "soon" is not an age`},
		{"keeps steps", `{"name": "x", "version": "1", "retention": {"triggers": {"manual": {"last": 1, "steps": -2}}}}`, `retention.triggers.manual.steps: -2 is not -1 or more`},
		{"message", `{"name": "x", "version": "1", "messages": {"hello": "hi"}}`, `messages.hello: unknown message; known messages: commit, corrupt, create_failed`},
		{"setting", `{"name": "x", "version": "1", "settings": [{"from": "a", "key": "core.hooksPath"}]}`, `settings[0].key: "core.hooksPath"`},
		{"form", `{"name": "x", "version": "1", "document": {"forms": [{"record": "a"}]}}`, `document.forms[0]: a form needs`},
		{"value", `{"name": "x", "version": "1", "values": {"new": "1"}}`, `values.new: "new" is already taken`},
		{"name of a value", `{"name": "x", "version": "1", "values": {"a-b": "1"}}`, `values.a-b: "a-b" is not a name`},
		{"byte order mark", "\ufeff" + `{"name": "x", "version": 1}`, `w.json:1: version: a number where`},
		{"derived", `{"name": "x", "version": "1", "derive": [{"path": "a"}]}`, `derive[0]: a value is required`},
		{"large", `{"name": "x", "version": "1", "description": "` + strings.Repeat("x", maxDefinitionSize) + `"}`, `limit is 262144`},
		{"deep", `{"name": "x", "version": "1", "state": {"schema": ` + strings.Repeat(`{"not":`, 100) + "{}" + strings.Repeat("}", 100) + "}}", `levels deep`},
		{"long expression", rule(`"check": "` + strings.Repeat(" ", maxExpression) + `true"`), `characters; the limit is 2000`},
		{"many nodes", rule(`"check": "step == 1` + strings.Repeat(" or step == 1", 150) + `"`), `exceeds maximum`},
	} {
		_, err := Check([]byte(c.text), "w.json")
		var broken *DefinitionError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", c.about, err, c.want)
		}
	}
}

// A definition that was accepted before goes on working: what Check finds in the arguments of a
// function, Parse takes for null.
func TestParseIsLessStrictThanCheck(t *testing.T) {
	text := []byte(rule(`"check": "subset(new.a, typo)"`))
	if _, err := Check(text, "w.json"); err == nil || !strings.Contains(err.Error(), "unknown name typo") {
		t.Errorf("Check: %v", err)
	}
	if _, err := Parse(text, "w.json"); err != nil {
		t.Errorf("Parse: %v", err)
	}
}

func rule(members string) string {
	if !strings.Contains(members, `"message"`) && strings.Contains(members, `"check"`) {
		members += `, "message": "m"`
	}
	return `{"name": "x", "version": "1", "rules": [{"name": "r", ` + members + `}]}`
}

// Everything wrong is said at once, in the order of the lines.
func TestAllProblemsAreNamed(t *testing.T) {
	_, err := Parse([]byte("{\n\"name\": \"x\",\n\"version\": \"1\",\n\"rules\": [\n{\"name\": \"a\", \"check\": \"x\", \"message\": \"m\"},\n"+
		"{\"name\": \"b\", \"check\": \"true\", \"message\": \"{y}\"}\n],\n\"steps\": {\"requires\": \"z\"}}"), "w.json")
	var broken *DefinitionError
	if !errors.As(err, &broken) {
		t.Fatal(err)
	}
	said := []string{}
	for _, p := range broken.Problems {
		said = append(said, fmt.Sprintf("%d %s", p.Line, p.Member))
	}
	if got := strings.Join(said, ", "); got != "5 rules[0].check, 6 rules[1].message, 8 steps.requires" {
		t.Errorf("problems are at %s", got)
	}
}

func TestJSONIsWhatWasWritten(t *testing.T) {
	text := "{\"name\": \"x\",\n  \"version\": \"1\"}\n"
	d, err := Parse([]byte(text), "x.json")
	if err != nil || string(d.JSON()) != text {
		t.Errorf("%q, %v", d.JSON(), err)
	}
	if got := d.Branch("s-1"); got != "x/s-1" {
		t.Errorf("branch is %q", got)
	}
	if d, _ := Builtin("go-team"); d.Branch("s-1") != "go-team/s-1" {
		t.Errorf("branch is %q", d.Branch("s-1"))
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		d, _ := Builtin(name)
		f.Add([]byte(d.JSON()))
	}
	f.Add([]byte(rule(`"check": "all(new.a, any(new.b, # == 1)) and len(keys(new)) > 2 ** 3"`)))
	f.Add([]byte(`{"name":"x","version":"1","state":{"schema":{"$ref":"#/$defs/a","$defs":{"a":{"pattern":"(a|b)*"}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data, "fuzz.json")
		if err != nil {
			var broken *DefinitionError
			if !errors.As(err, &broken) || len(broken.Problems) == 0 {
				t.Fatalf("error is %#v", err)
			}
			for _, p := range broken.Problems {
				if p.Line < 1 {
					t.Fatalf("problem without a line: %+v", p)
				}
			}
			return
		}
		change := Change{New: []byte(`{"a": [1, "x", {"id": "y"}], "b": {"c": null}}`), NewStatus: "in_progress", Trigger: TriggerManual}
		d.Check(change)
		if _, err := d.Derive(change, nil); err != nil {
			t.Fatal(err)
		}
		d.Resume(ResumeInput{Situation: Situation{State: change.New, Status: "failed"}})
		_, _ = d.Place(PlaceRequest{Trigger: TriggerManual, State: change.New})
	})
}
