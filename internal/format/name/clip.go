package name

import "strings"

// Clip shortens s to n characters, the last of which is an ellipsis. Error messages use it to
// repeat input, which may be very long.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(n-1, 0)]) + "…"
}

// Short shortens s to at most n bytes, at the end of a character, and an ellipsis.
func Short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Said is how many characters of some input an error message repeats.
const Said = 80
