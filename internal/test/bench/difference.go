package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Compare reports the rows in which two tables differ by more than their spread. It
// compares only rows that both tables have, since a quick run has fewer, and no times
// without a ratio, since these depend on the machine.
func Compare(last, now []Row) string {
	if len(last) == 0 {
		return "\nThere is no last table to compare with.\n"
	}
	var worse, better []string
	compared := 0
	for _, row := range now {
		i := slices.IndexFunc(last, func(r Row) bool { return r.Name == row.Name && r.Unit == row.Unit && r.Files == row.Files })
		// A row counts only if both tables measured the same thing: unit, files, and kind
		// of value.
		if i < 0 || (last[i].Ratio == nil) != (row.Ratio == nil) || row.Ratio == nil && row.Unit == "ms" {
			continue
		}
		compared++
		line := fmt.Sprintf("  %s: %s, was %s\n", row.Name, row.judgedText(), last[i].judgedText())
		switch {
		case above(row.Judged(), last[i].Judged()):
			worse = append(worse, line)
		case above(last[i].Judged(), row.Judged()):
			better = append(better, line)
		}
	}
	var b strings.Builder
	if len(worse) == 0 {
		fmt.Fprintf(&b, "\nOf %d rows that the last table has too, none got worse beyond its spread.\n", compared)
	} else {
		fmt.Fprintf(&b, "\nOf %d rows that the last table has too, %d got worse beyond their spread:\n%s", compared, len(worse), strings.Join(worse, ""))
	}
	if len(better) > 0 {
		fmt.Fprintf(&b, "%d got better:\n%s", len(better), strings.Join(better, ""))
	}
	return b.String()
}

// above reports whether a is above b by more than the spread: neither median is within the
// middle half of the other.
func above(a, b Spread) bool { return a.Median > b.High && a.Low > b.Median }

// judgedText returns the ratio of a row, or what was counted.
func (r Row) judgedText() string {
	if r.Ratio != nil {
		return r.Ratio.in(2)
	}
	return r.Ours.in(digitsOf(r.Unit)) + " " + r.Unit
}
