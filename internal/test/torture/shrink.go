package torture

import "strings"

// shrink removes operations and lines of the setup as long as the case still fails in the
// same way. It tries to remove large parts first. try executes a case.
func shrink(f *Finding, try func(*Case) *Finding) *Finding {
	best := f
	// What follows the failing operation does not matter.
	best.Case.Ops = best.Case.Ops[:best.Step+1]
	for size := len(best.Case.Ops); size > 0; size /= 2 {
		for at := 0; at < len(best.Case.Ops); {
			c := *best.Case
			c.Ops = without(c.Ops, at, size)
			if got := try(&c); got != nil && got.class() == f.class() {
				got.Case.Ops = got.Case.Ops[:min(len(got.Case.Ops), got.Step+1)]
				best = got
			} else {
				at += size
			}
		}
	}
	for at := len(best.Case.Setup) - 1; at > 0; at-- {
		if !strings.HasPrefix(best.Case.Setup[at], "put ") {
			// This line makes the kind what it is.
			continue
		}
		c := *best.Case
		c.Setup = without(c.Setup, at, 1)
		if got := try(&c); got != nil && got.class() == f.class() {
			best = got
		}
	}
	return best
}

// without returns the list without n elements from at on.
func without[T any](list []T, at, n int) []T {
	return append(append([]T{}, list[:at]...), list[min(len(list), at+n):]...)
}

// class returns the sort of a failure: the first words of its message, without paths and
// numbers.
func (f *Finding) class() string {
	head, _, _ := strings.Cut(f.What, "\n")
	head, _, _ = strings.Cut(head, "\"")
	fields := strings.Fields(head)
	return strings.Join(fields[:min(len(fields), 5)], " ")
}
