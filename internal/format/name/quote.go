package name

import (
	"regexp"
	"strings"
	"sync"
)

// harmlessWord matches words that need no quotes in a shell.
var harmlessWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w@:+=,./%-][\w@~:+=,./%-]*$`) })

// Quoted quotes a word for a POSIX shell, if it needs it. Hints contain commands that people paste.
func Quoted(word string) string {
	if harmlessWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
