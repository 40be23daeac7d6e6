package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// header is the head of the table. LastTable finds the table by it.
const header = "| row | work | files | ours | the other | ratio | budget |\n|---|---|---|---|---|---|---|\n"

// Table returns all rows, in the format of docs/performance.md.
func (r *Report) Table() string {
	var b strings.Builder
	b.WriteString(header)
	for _, row := range r.Rows {
		b.WriteString(row.String())
	}
	return b.String()
}

// String returns the row as a line of the table.
func (r Row) String() string {
	files, theirs, ratio := "", "", ""
	if r.Files > 0 {
		files = fmt.Sprint(r.Files)
	}
	// Without another side two cells stay empty.
	if r.Ratio != nil {
		theirs, ratio = r.Theirs.in(digitsOf(r.Unit))+" "+r.Unit, r.Ratio.in(2)
	}
	budgets := budget(r.First)
	if r.Then > 0 {
		budgets += ", " + budget(r.Then)
	}
	if budgets != "" {
		budgets += ": " + r.Kept()
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Work, files, r.Ours.in(digitsOf(r.Unit))+" "+r.Unit, theirs, ratio, budgets)
}

// digitsOf returns how many decimals of a unit are more than noise.
func digitsOf(unit string) int {
	switch unit {
	case "objects", "refs":
		return 0
	case "KiB":
		return 2
	}
	return 1
}

// budget formats a budget, 0 as nothing.
func budget(limit float64) string {
	if limit == 0 {
		return ""
	}
	return "≤" + strconv.FormatFloat(limit, 'f', -1, 64)
}

// in formats the median, and the quartiles if they differ.
func (s Spread) in(digits int) string {
	if s.Low == s.High {
		return fmt.Sprintf("%.*f", digits, s.Median)
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.Median, digits, s.Low, digits, s.High)
}
