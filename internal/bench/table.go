package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// header is the head of the table; lastTable finds it again by its first cell.
const header = "| row | work | files | ours | the other | ratio | first | then | met |\n|---|---|---|---|---|---|---|---|---|\n"

// Table is all rows, as docs/performance.md has them.
func (r *Report) Table() string {
	var b strings.Builder
	b.WriteString(header)
	for _, row := range r.Rows {
		b.WriteString(row.String())
	}
	return b.String()
}

// String is the line of the table.
func (r Row) String() string {
	files, theirs, ratio := "", "", ""
	if r.Files > 0 {
		files = fmt.Sprint(r.Files)
	}
	if r.Ratio != nil {
		theirs, ratio = r.Theirs.in(digitsOf(r.Unit))+" "+r.Unit, r.Ratio.in(2)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Work, files,
		r.Ours.in(digitsOf(r.Unit))+" "+r.Unit, theirs, ratio, budget(r.First), budget(r.Then), r.Kept())
}

// digitsOf is how many digits behind the point are more than noise.
func digitsOf(unit string) int {
	switch unit {
	case "objects", "refs":
		return 0
	case "KiB":
		return 2
	}
	return 1
}

func budget(limit float64) string {
	if limit == 0 {
		return ""
	}
	return "≤ " + strconv.FormatFloat(limit, 'f', -1, 64)
}

// in writes the median, and the middle half where it is more than a point.
func (s Spread) in(digits int) string {
	if s.Low == s.High {
		return fmt.Sprintf("%.*f", digits, s.Median)
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.Median, digits, s.Low, digits, s.High)
}
