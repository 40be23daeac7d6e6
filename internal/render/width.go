package render

import "github.com/rivo/uniseg"

const ellipsis = "…"

// Width is the number of terminal columns that s takes: two for a wide East Asian
// character or an emoji, none for a combining mark. s has been through Escape.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Truncate cuts s to at most columns, between characters as people see them, and
// marks the cut with an ellipsis.
func Truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	// Nothing narrower than a byte per column: short strings need no counting.
	if len(s) <= columns && isPlain(s) {
		return s
	}
	kept, used, rest, state := 0, 0, s, -1
	lastFit := 0
	for len(rest) > 0 {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		used += width
		if used > columns {
			return s[:lastFit] + ellipsis
		}
		kept += len(cluster)
		if used <= columns-1 {
			lastFit = kept
		}
	}
	return s
}
