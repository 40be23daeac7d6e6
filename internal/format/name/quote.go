package name

import (
	"slices"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// harmlessWord matches words that need no quotes in a shell.
var harmlessWord = lazy.Pattern(`^[\w@:+=,./%-][\w@~:+=,./%-]*$`)

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
