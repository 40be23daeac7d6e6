package render

import "github.com/rivo/uniseg"

const ellipsis = "…"

// Width returns the number of terminal columns that s takes. A wide East Asian character or an
// emoji takes two, a combining mark none. s must have been through Escape.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Truncate cuts s to at most the given number of columns and marks the cut with an ellipsis. It
// cuts between characters as people see them (grapheme clusters), such as an emoji of several code
// points.
func Truncate(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	// ASCII takes one column per byte, so a short string needs no counting.
	if len(s) <= columns && isPlain(s) {
		return s
	}
	kept, used, rest, state := 0, 0, s, -1
	// lastFit is the length of the longest prefix that leaves a column for the ellipsis.
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
