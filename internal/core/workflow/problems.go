package workflow

import (
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/gather"
)

// Problem is one error in a definition. Its JSON is part of what `workflow check` prints.
type Problem struct {
	Line   int    `json:"line"`   // counted from 1
	Member string `json:"member"` // the path of the member, such as rules[2].check; "" if the text is not valid JSON
	Text   string `json:"text"`   // describes the error
}

// DefinitionError rejects a definition and lists all its errors.
type DefinitionError struct {
	Source   string    // the name of the file or definition
	Problems []Problem // has at least one entry and is sorted by line
}

// Error returns one line per problem in the form that compilers use: source:line: member: text.
func (e *DefinitionError) Error() string {
	lines := gather.List(e.Problems, func(p Problem) string { return fmt.Sprintf("%s:%d: %s", e.Source, p.Line, p) })
	return strings.Join(lines, "\n")
}

// String returns member and text.
func (p Problem) String() string {
	if p.Member == "" {
		return p.Text
	}
	return p.Member + ": " + p.Text
}

// problems collects errors by member. Parse sets their lines at the end.
type problems []Problem

// add appends an error unless the list is full.
func (p *problems) add(member, format string, args ...any) {
	const maxProblems = 50 // limits the list; a definition with so many errors is probably not a definition
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Member: member, Text: fmt.Sprintf(format, args...)})
	}
}

// itemPath returns the path of a list item.
func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
