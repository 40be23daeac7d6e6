package workflow

import (
	"fmt"
	"reflect"
	"slices"
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

// texts checks every text whose field has a tag `is`, and every name of a map whose field has a tag
// `keys`. The compiled expressions stay in the definition's cache.
func (d verifier) texts() {
	scopes := map[string]scope{"session": sessionScope(), "values": ruleScope(), "rule": d.ruleScope(), "resume": resumeScope(), "message": messageScope()}
	eachText(reflect.ValueOf(d.Definition).Elem(), "", "", "", func(member, is, text string) {
		is, needed := strings.CutPrefix(is, "needs ")
		if text == "" && !needed {
			return
		}
		of, rest, _ := strings.Cut(is, " ")
		if err := d.text(scopes[of], of, rest, text); err != nil {
			d.add(member, "%v", err)
		}
	})
}

// text checks one text. of is the first word of its tag and rest has the others. Before them, "needs"
// means that the text may not be empty.
//
//	path     a path into a document; with "*" one of its names may be "*"
//	word     one of the words in rest
//	status   a status; with "*" that is one too
//	age      an age, or the word in rest
//
// Anything else is the name of a scope, and rest says what has to compile in it: a condition, a
// value or a template.
func (d verifier) text(in scope, of, rest, text string) error {
	var err error
	switch {
	case of == "path" && rest == "*":
		return checkPath(strings.ReplaceAll(text, "*", "any"))
	case of == "path":
		return checkPath(text)
	case of == "word":
		if known := strings.Fields(rest); !slices.Contains(known, text) {
			return fmt.Errorf("%q is not one of %s", shorten(text, 60), strings.Join(known, ", "))
		}
	case of == "status" && text != rest:
		return d.status(text)
	case of == "age" && text != rest:
		_, err = ParseAge(text)
	case rest == "condition":
		_, err = d.programs.compile(in, text, "bool")
	case rest == "value":
		_, err = d.programs.compile(in, text, "")
	case rest == "template":
		_, err = d.programs.template(in, text)
	}
	return err
}

// status checks a status, or a member that refers to one.
func (d verifier) status(status string) error {
	s := d.Statuses
	switch {
	case !isWord(status):
		return fmt.Errorf("%q is not a name of a status", shorten(status, 60))
	case len(s.List) > 0 && !s.Open && !slices.Contains(s.List, status):
		return fmt.Errorf("%q is not in statuses.list: %s", status, strings.Join(s.List, ", "))
	}
	return nil
}

// checkPath refuses a text that is not a path. Paths are names with dots and nothing else: the
// library that evaluates them would also accept wildcards and queries of unbounded cost.
func checkPath(text string) error {
	if !isPath(text, "") {
		return fmt.Errorf("%q is not a path: names of A-Z a-z 0-9 _ - with dots between", shorten(text, 80))
	}
	return nil
}

// eachText calls do for every text below v whose field has a tag `is`, and every name in a map whose
// field has a tag `keys`, with the path of the member and the tag. The tag of a list or a map is
// that of each text in it.
func eachText(v reflect.Value, path, is, keys string, do func(member, is, text string)) {
	switch v.Kind() {
	case reflect.String:
		if is != "" {
			do(path, is, v.String())
		}
	case reflect.Pointer:
		eachText(v.Elem(), path, is, "", do)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if name := memberName(field); name != "" {
				eachText(v.Field(i), join(path, name), field.Tag.Get("is"), field.Tag.Get("keys"), do)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), itemPath(path, i), is, "", do)
		}
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			if keys != "" {
				do(join(path, name.String()), keys, name.String())
			}
			eachText(v.MapIndex(name), join(path, name.String()), is, "", do)
		}
	}
}

// documents checks the members that identify documents, take them apart and compare them.
func (d verifier) documents() {
	if _, err := patternSteps(d.Session.Pattern); err != nil {
		d.add("session.pattern", "%v", err)
	}
	for i, list := range d.Session.KnownBy {
		if len(list) == 0 {
			d.add(itemPath("session.known_by", i), "an empty list would match any document")
		}
	}
	for i, f := range d.Document.Forms {
		if f.State == "" {
			d.add(itemPath("document.forms", i), "a form needs the path of its state")
		}
	}
	for _, metric := range sortedKeys(d.State.Better) {
		if better := d.State.Better[metric]; better != BetterHigh && better != BetterLow {
			d.add(join("state.better", metric), "%q is neither high nor low", shorten(string(better), 80))
		}
	}
}

// rules checks that values, derivations, rules and messages are complete and have names of
// their own. texts compiles their expressions.
func (d verifier) rules() {
	for _, name := range sortedKeys(d.Values) {
		// A value must not hide a variable or a function.
		if _, taken := ruleScope().vars[name]; taken || isFunction(name) {
			d.add(join("values", name), "%q is already taken", shorten(name, 60))
		} else if !isIdentifier(name) {
			d.add(join("values", name), "%q is not a name: use 1 to 40 of a-z 0-9 _, starting with a letter", shorten(name, 60))
		}
	}
	for i, v := range d.Derivations {
		if v.Value == "" {
			d.add(itemPath("derive", i), "a value is required")
		}
	}
	names := map[string]bool{}
	for i, r := range d.Rules {
		if !isWord(r.Name) || names[r.Name] {
			d.add(itemPath("rules", i)+".name", "%q is not a name of its own", shorten(r.Name, 60))
		}
		names[r.Name] = true
		if r.Check == "" || r.Message == "" {
			d.add(itemPath("rules", i), "check and message are required")
		}
	}
	known := Default().Messages
	for _, key := range sortedKeys(d.Messages) {
		if _, ok := known[key]; !ok && d.Name != DefaultName {
			d.add(join("messages", key), "unknown message; known messages: %s", strings.Join(sortedKeys(known), ", "))
		}
	}
}

// Words and symbols that have a meaning in definitions. The tags in definition.go have all words.
const (
	stepNumber       = "{N}"
	anyOther         = "*"
	requiresPrevious = "previous"
	followState      = "state"
	againIterate     = "iterate"
	hangsLast        = "last"
	perPhase         = "phase"
	freshWarn        = "warn"
	freshAsk         = "ask"
	freshRefuse      = "refuse"
)

// letters is also indexed by isIdentifier: a-z, then A-Z, then the digits.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// isWord reports whether s is a valid name in a definition: 1 to 40 letters, digits, "_" and "-",
// starting with a letter or digit. It is written without regexp, because compiling one would cost
// time at every start of the program.
func isWord(s string) bool {
	return s != "" && len(s) <= 40 && strings.Contains(letters, s[:1]) && hasOnly(s, letters+"_-")
}

// isIdentifier reports whether s is a valid name in an expression: 1 to 40 of a-z, 0-9 and "_",
// starting with a letter. A leading "_" is reserved for the guard.
func isIdentifier(s string) bool {
	return len(s) <= 40 && s != "" && strings.Contains(letters[:26], s[:1]) && hasOnly(s, letters[:26]+letters[52:]+"_")
}

// isPath reports whether s is a path into a document: up to 20 names with dots between them. extra
// has characters that are allowed in names besides the usual ones.
func isPath(s, extra string) bool {
	if len(s) > 400 || strings.Count(s, ".") > 19 {
		return false
	}
	for name := range strings.SplitSeq(s, ".") {
		if name == "" || !hasOnly(name, letters+"_-"+extra) {
			return false
		}
	}
	return true
}

// hasOnly reports whether s consists of the given characters.
func hasOnly(s, characters string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(characters, r) }) < 0
}
