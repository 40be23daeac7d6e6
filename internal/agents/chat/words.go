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
		"((?: -y| --yes)*)(?: ([0-9A-Za-z@][0-9A-Za-z@.+_~-]*))?((?: -y| --yes)*)`?")
})

// inWords rewrites the command lines in a text as chat commands: `git checkpoint rollback 2`
// becomes *rollback:2. A person in a chat has no shell to type the former into.
func inWords(text string) string {
	return commandPattern().ReplaceAllStringFunc(text, func(found string) string {
		m := commandPattern().FindStringSubmatch(found)
		said := typed[m[1]]
		takes := strings.Contains(" rollback rebuild delete show ", " "+m[1]+" ")
		switch {
		case takes && chatRef().MatchString(m[3]):
			return said + ":" + m[3]
		// The chat command needs a checkpoint, and this one has none that a chat accepts.
		case takes:
			return found
		case m[3] != "":
			return said + " " + m[3]
		}
		return said
	})
}
