package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// nearest suggests the commands that a misspelled word may have meant.
func nearest(word string, node *kong.Node) []string {
	const tooFar = 3
	best, found := tooFar, []string(nil)
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			distance := edits(word, name)
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

// edits is the number of letters to insert, drop, change or swap with their
// neighbour. A word that is far too long is not measured.
func edits(a, b string) int {
	if len(a) > 3*len(b) {
		return len(a)
	}
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
