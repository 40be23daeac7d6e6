package usage

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	names "git-checkpoint/internal/name"
)

// nearest returns a hint with the commands below node whose names are most similar to a misspelled
// word: those with the smallest edit distance below tooFar. A word that is the beginning of a name
// counts as equal. It returns nil if none is similar.
func nearest(word string, node *kong.Node) []string {
	const tooFar = 3
	best, found := tooFar, []string(nil)
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			distance := names.Distance(word, name)
			if len(word) > 1 && strings.HasPrefix(name, word) {
				distance = 0
			}
			if distance < best {
				best, found = distance, nil
			}
			if distance == best && distance < tooFar {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return []string{"did you mean " + strings.Join(found, " or ") + "?"}
}
