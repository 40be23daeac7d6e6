package name

// Clip shortens s to n characters, the last of which is an ellipsis. Error messages use it to
// repeat input, which may be very long.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(n-1, 0)]) + "…"
}

// Said is how many characters of some input an error message repeats.
const Said = 80
