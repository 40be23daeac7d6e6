package bench

// The table in docs/performance.md is also the record of the last run. It is parsed again,
// so that the next run can tell what became slower.

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// begins and ends are the lines around the table in the document.
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

// LastTable parses the table in a document. A document without a table gives no rows.
func LastTable(document string) ([]Row, error) {
	_, table, found := strings.Cut(document, header)
	if !found {
		return nil, nil
	}
	var rows []Row
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		row, err := parseRow(line)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// parseRow parses the output of Row.String. Whether a budget is met is computed and not
// parsed.
func parseRow(line string) (Row, error) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) != strings.Count(header, "|")/2-1 {
		return Row{}, fmt.Errorf("%d cells in %q", len(cells), line)
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r := Row{Name: cells[0], Work: cells[1]}
	var errs [6]error
	if cells[2] != "" {
		r.Files, errs[0] = strconv.Atoi(cells[2])
	}
	r.Ours, r.Unit, errs[1] = parseSpread(cells[3])
	r.Theirs, errs[2] = parseOptional(cells[4])
	r.Ratio, errs[3] = parseOptional(cells[5])
	budgets, _, _ := strings.Cut(cells[6], ":")
	first, then, _ := strings.Cut(budgets, ", ")
	r.First, errs[4] = parseBudget(first)
	r.Then, errs[5] = parseBudget(then)
	if err := errors.Join(errs[:]...); err != nil {
		return Row{}, fmt.Errorf("row %q: %w", r.Name, err)
	}
	if (r.Theirs == nil) != (r.Ratio == nil) {
		return Row{}, fmt.Errorf("row %q has a ratio or the other side, and not both", r.Name)
	}
	return r, nil
}

// parseSpread parses "1.5 (1.0–2.0) ms" and "1.5 ms".
func parseSpread(cell string) (Spread, string, error) {
	m := regexp.MustCompile(`^([0-9.]+)(?: \(([0-9.]+)–([0-9.]+)\))?(?: (\S+))?$`).FindStringSubmatch(cell)
	if m == nil {
		return Spread{}, "", fmt.Errorf("%q is no measurement", cell)
	}
	if m[2] == "" {
		m[2], m[3] = m[1], m[1]
	}
	var values [3]float64
	for i, word := range []string{m[2], m[1], m[3]} {
		var err error
		if values[i], err = strconv.ParseFloat(word, 64); err != nil {
			return Spread{}, "", err
		}
	}
	if !slices.IsSorted(values[:]) {
		return Spread{}, "", fmt.Errorf("the middle of %q is outside its halves", cell)
	}
	return Spread{values[0], values[1], values[2]}, m[4], nil
}

// parseOptional parses a spread, or returns nil for an empty cell.
func parseOptional(cell string) (*Spread, error) {
	if cell == "" {
		return nil, nil //nolint:nilnil // a row that is counted has no other side
	}
	s, _, err := parseSpread(cell)
	return &s, err
}

// parseBudget parses a budget such as "≤1.2". Nothing is 0.
func parseBudget(cell string) (float64, error) {
	if cell == "" {
		return 0, nil
	}
	return strconv.ParseFloat(strings.TrimPrefix(cell, "≤"), 64)
}
