package name

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// harmlessWord matches words that need no quotes in a shell.
var harmlessWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w@:+=,./%-][\w@~:+=,./%-]*$`) })

// Quoted quotes words for a POSIX shell, those that need it. Hints contain commands that people paste.
func Quoted(words ...string) string {
	words = slices.Clone(words)
	for i, word := range words {
		if !harmlessWord().MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
