package chat

import (
	"regexp"
	"strings"
	"sync"
)

// typed is how a command of a shell is typed in a chat; what has no such form stays.
var typed = map[string]string{
	"rollback": "*rollback", "rebuild": "*cp-rebuild", "delete": "*delete", "show": "*cp-show", "undo": "*undo", "redo": "*redo",
	"list": "*cp-list", "history": "*history", "validate": "*cp-validate", "rollback --continue": "*continue", "rollback --abort": "*abort",
	"resume --accept": "*continue",
}

var commandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`?git checkpoint (rollback --continue|rollback --abort|resume --accept|rollback|rebuild|delete|show|undo|redo|list|history|validate)" +
		"((?: -y| --yes)*)(?: ([0-9A-Za-z@][0-9A-Za-z@.+_~-]*))?((?: -y| --yes)*)`?")
})

// InWords puts the commands of a text into the words of a chat: `git checkpoint rollback 2` is
// *rollback:2 there.
func InWords(text string) string {
	return commandPattern().ReplaceAllStringFunc(text, func(found string) string {
		m := commandPattern().FindStringSubmatch(found)
		said := typed[m[1]]
		takes := strings.Contains(" rollback rebuild delete show ", " "+m[1]+" ")
		switch {
		case takes && chatRef().MatchString(m[3]):
			return said + ":" + m[3]
		case takes:
			return found
		case m[3] != "":
			return said + " " + m[3]
		}
		return said
	})
}

// InWords is the text of the answer in the words of a chat. What shows the words of others
// stays as they wrote it.
func (a *Answer) InWords(text string) string {
	if a.Detail != nil || a.Difference != nil || a.List != nil {
		return text
	}
	return InWords(text)
}
