package chat

import (
	"regexp"
	"strings"
	"sync"
)

// typed maps the command lines that occur in answers to what is typed in a chat. Others stay as
// they are.
var typed = map[string]string{
	"rollback": "*rollback", "rebuild": "*cp-rebuild", "delete": "*delete", "show": "*cp-show", "undo": "*undo", "redo": "*redo",
	"list": "*cp-list", "history": "*history", "validate": "*cp-validate", "rollback --continue": "*continue", "rollback --abort": "*abort",
	"resume --accept": "*continue",
}

// commandPattern matches such a command line in a text, with its backquotes, -y and its argument.
// Its alternatives must be the keys of typed, the longer ones first.
var commandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`?git checkpoint (rollback --continue|rollback --abort|resume --accept|rollback|rebuild|delete|show|undo|redo|list|history|validate)" +
		"((?: -y| --yes)*)(?: ([0-9A-Za-z@][0-9A-Za-z@.+_~-]*(?::[0-9A-Za-z@][0-9A-Za-z@.+_~-]*)?))?((?: -y| --yes)*)`?")
})

// otherPattern matches a command line in backquotes.
var otherPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`git checkpoint [^`\n]*`") })

// inWords rewrites the command lines in a text as chat commands: `git checkpoint rollback 2`
// becomes *rollback:2. A person in a chat has no shell to type the former into. What a chat does not take
// is for a terminal, and the text says so.
func inWords(text string) string {
	text = commandPattern().ReplaceAllStringFunc(text, func(found string) string {
		m := commandPattern().FindStringSubmatch(found)
		said := typed[m[1]]
		takes := strings.Contains(" rollback rebuild delete show ", " "+m[1]+" ")
		ref := m[3]
		if session, of, named := strings.Cut(ref, ":"); named && session != "" {
			ref = of
		}
		isRef := chatRef().MatchString(ref)
		switch {
		case takes && isRef:
			return said + ":" + m[3]
		// The chat command needs a checkpoint, and this one has none that a chat accepts.
		case takes || isRef:
			return found
		case m[3] != "":
			return said + " " + m[3]
		}
		return said
	})
	return otherPattern().ReplaceAllString(text, "$0 in a terminal")
}
