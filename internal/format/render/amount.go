package render

import (
	"fmt"
	"strconv"
)

// First returns what say returns for the first of a list, at most so many, and after them how many more
// there are, in the words of format.
func First[T any](list []T, most int, format string, say func(T) string) (said []string) {
	for _, one := range list[:min(len(list), most)] {
		said = append(said, say(one))
	}
	if more := len(list) - most; more > 0 {
		said = append(said, fmt.Sprintf(format, more))
	}
	return said
}

// Count returns a number with its noun: "1 file", "12 files", "0 entries".
func Count[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Thousands returns a number that is not negative with a comma after each thousand: "9,980".
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Size returns a number of bytes with a binary unit: "512 B", "1.2 MiB".
func Size(bytes int64) string {
	if bytes > -1024 && bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		value /= 1024
		// Compare the value as it will be printed: 1048575 bytes are "1.0 MiB", not "1024.0 KiB".
		if value > -1023.95 && value < 1023.95 {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return fmt.Sprintf("%.1f EiB", value/1024)
}
