package workflow

import (
	"reflect"
	"slices"
	"strings"
)

// verifyTexts checks every text whose field has a tag `is`: it is a path into a document, or an
// expression or template that compiles in the scope in which it will run. Paths are names with dots
// and nothing else: the library that evaluates them would also accept wildcards and queries of
// unbounded cost. The compiled expressions stay in the definition's cache.
func (d *Definition) verifyTexts(found *problems) {
	scopes := map[string]scope{"session": sessionScope(), "rule": d.ruleScope(), "resume": resumeScope(), "message": messageScope()}
	eachText(reflect.ValueOf(d).Elem(), "", "", func(member, is, text string) {
		if text == "" {
			return // nothing requires it here
		}
		var err error
		switch of, sort, _ := strings.Cut(is, " "); sort {
		case "condition":
			_, err = d.compile(scopes[of], text, "bool")
		case "value":
			_, err = d.compile(scopes[of], text, "")
		case "template":
			_, err = d.template(scopes[of], text)
		case "with *":
			verifyPath(found, member, strings.ReplaceAll(text, "*", "any"))
		default:
			verifyPath(found, member, text)
		}
		if err != nil {
			found.add(member, "%v", err)
		}
	})
}

// verifyPath reports a text that is no path.
func verifyPath(found *problems, member, text string) {
	if !isPath(text, "") {
		found.add(member, "%q is not a path: names of A-Z a-z 0-9 _ - with dots between", shorten(text, 80))
	}
}

// eachText calls do for every text below v whose field has a tag `is`, with the path of the member
// and the tag. The tag of a list or a map is that of each text in it.
func eachText(v reflect.Value, path, is string, do func(member, is, text string)) {
	switch v.Kind() {
	case reflect.String:
		if is != "" {
			do(path, is, v.String())
		}
	case reflect.Pointer:
		eachText(v.Elem(), path, is, do)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if name := memberName(field); name != "" {
				eachText(v.Field(i), join(path, name), field.Tag.Get("is"), do)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), at(path, i), is, do)
		}
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			eachText(v.MapIndex(name), join(path, name.String()), is, do)
		}
	}
}

// verifyDocuments checks what tells documents apart, takes them apart and compares them.
func (d *Definition) verifyDocuments(found *problems) {
	if _, err := patternSteps(d.Session.Pattern); err != nil {
		found.add("session.pattern", "%v", err)
	}
	for i, list := range d.Session.KnownBy {
		if len(list) == 0 {
			found.add(at("session.known_by", i), "an empty list would match any document")
		}
	}
	for i, f := range d.Document.Forms {
		if f.State == "" {
			found.add(at("document.forms", i), "a form needs the path of its state")
		}
	}
	for _, metric := range sortedKeys(d.State.Better) {
		if better := d.State.Better[metric]; better != BetterHigh && better != BetterLow {
			found.add(join("state.better", metric), "%q is neither high nor low", shorten(string(better), 80))
		}
	}
	for _, list := range sortedKeys(d.Diff.Identity) {
		if list != "" {
			verifyPath(found, join("diff.identity", list), list)
		}
	}
}

// verifyRules checks that values, derivations, rules and messages are complete and have names of
// their own. verifyTexts compiles their expressions, but for those of values: they may not use each
// other.
func (d *Definition) verifyRules(found *problems) {
	for _, name := range sortedKeys(d.Values) {
		// A value must not hide a variable or a function.
		if _, taken := ruleScope().vars[name]; taken || !isIdentifier(name) || isFunction(name) {
			found.add(join("values", name), "%q is already taken", shorten(name, 60))
		} else if text := d.Values[name]; text != "" {
			if _, err := d.compile(ruleScope(), text, ""); err != nil {
				found.add(join("values", name), "%v", err)
			}
		}
	}
	for i, v := range d.Derivations {
		if !isPath(v.Path, "") {
			found.add(at("derive", i)+".path", "%q is not a path", shorten(v.Path, 80))
		}
		if v.Value == "" {
			found.add(at("derive", i), "a value is required")
		}
	}
	names := map[string]bool{}
	for i, r := range d.Rules {
		if !isWord(r.Name) || names[r.Name] {
			found.add(at("rules", i)+".name", "%q is not a name of its own", shorten(r.Name, 60))
		}
		names[r.Name] = true
		if r.Check == "" || r.Message == "" {
			found.add(at("rules", i), "check and message are required")
		}
		if r.Path != "" && !isPath(r.Path, "") {
			found.add(at("rules", i)+".path", "%q is not a path", shorten(r.Path, 80))
		}
	}
	known := Default().Messages
	for _, key := range sortedKeys(d.Messages) {
		if _, ok := known[key]; !ok && d.Name != DefaultName {
			found.add(join("messages", key), "unknown message; known messages: %s", strings.Join(sortedKeys(known), ", "))
		}
	}
}
