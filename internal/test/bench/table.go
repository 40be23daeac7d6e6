package bench

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// header is the head of the table.
const header = "| row | work | ours | the other | ratio | budget |\n|---|---|---|---|---|---|\n"

// begins and ends are the lines around the table in docs/performance.md.
const (
	begins = "<!-- measured: begin -->\n"
	ends   = "<!-- measured: end -->\n"
)

// Renew returns the document with its table replaced by that of a report.
func Renew(document string, r *Report) (string, error) {
	head, rest, found := strings.Cut(document, begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !found || !ended {
		return "", errors.New("there are no marks around a table")
	}
	return head + begins + r.About() + " Load at the end: " + r.LoadAtEnd + ".\n\n" + r.Table() + ends + tail, nil
}

// asked matches the rows that people ask about.
var asked = regexp.MustCompile(`^((files|first)/|(text|untracked)/create|status/porcelain/20000|session/(create|status)/10000|large/create$|hook/(unchanged|before/20000|edit)|beside/.*20000|why/10000|count/bytes|memory/own)`)

// Table returns the rows of docs/performance.md: those that people ask about, and each one that misses its budget.
// The numbers beside the charts have all.
func (r *Report) Table() string {
	var b strings.Builder
	b.WriteString(header)
	for _, row := range r.Rows {
		if asked.MatchString(row.Name) || row.Kept() == "no" {
			b.WriteString(row.String())
		}
	}
	return b.String()
}

// String returns the row as a line of the table.
func (r Row) String() string {
	theirs, ratio := "", ""
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
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.Name, r.Work, r.Ours.in(digitsOf(r.Unit))+" "+r.Unit, theirs, ratio, budgets)
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
