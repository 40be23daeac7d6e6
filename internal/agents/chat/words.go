package chat

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// linePattern matches a command line in a text: one in backquotes, or else its words as far as they can
// be part of it.
var linePattern = sync.OnceValue(func() *regexp.Regexp {
	const word = `(?:--?[a-z][a-z-]*|(?:[0-9A-Za-z][0-9A-Za-z._-]*:)?[0-9@][0-9A-Za-z@.+_~-]*|(?:[0-9A-Za-z][0-9A-Za-z._-]*:)?[A-Za-z][A-Za-z-]*[-_][0-9][0-9A-Za-z@.+_~-]*)`
	return regexp.MustCompile("`git checkpoint ([^`\n]*)`|\\bgit checkpoint ([a-z]+(?: +" + word + ")*)")
})

// inWords rewrites the command lines in a text as chat commands: `git checkpoint rollback 2`
// becomes *rollback:2. A person in a chat has no shell to type the former into. What a chat does not take
// is for a terminal, and the text says so.
func inWords(text string) string {
	return linePattern().ReplaceAllStringFunc(text, func(found string) string {
		m := linePattern().FindStringSubmatch(found)
		if typed := typedFor(strings.Fields(m[1] + m[2])); typed != "" {
			return typed
		}
		if m[1] != "" {
			return found + " in a terminal"
		}
		return found
	})
}

// typedFor returns what is typed in a chat for the arguments of a command line; "" if there is nothing.
func typedFor(line []string) string {
	line = slices.DeleteFunc(line, func(word string) bool { return word == "-y" || word == "--yes" })
	if len(line) == 0 { // somebody's text
		return ""
	}
	for _, f := range forms() {
		if slices.Contains(f.Means, strings.Join(line, " ")) {
			return f.typed(nil, nil)
		}
	}
	var refs, flags []string
	for _, word := range line[1:] {
		if strings.HasPrefix(word, "-") {
			flags = append(flags, word)
			continue
		}
		ref, rest := nextRef(word)
		if ref != word || rest != "" {
			return ""
		}
		refs = append(refs, ref)
	}
	for _, f := range forms() {
		other := func(flag string) bool { return !slices.Contains(f.Flags, flag) }
		if len(f.Line) > 0 && f.Line[0] == line[0] && f.Words[0][0] == '*' && len(refs) >= f.Least && len(refs) <= f.Most && !slices.ContainsFunc(flags, other) {
			return f.typed(refs, flags)
		}
	}
	return ""
}
