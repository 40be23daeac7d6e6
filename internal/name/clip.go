package name

// Clip cuts a text to n characters, so that a message that repeats what somebody sent stays short.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Said is how much a message repeats of what somebody sent.
const Said = 80
