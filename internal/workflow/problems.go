package workflow

import (
	"fmt"
	"strconv"
	"strings"
)

// Problem is one thing wrong in a definition.
type Problem struct {
	// Line is where, from 1; 0 when the text is too broken to tell.
	Line int
	// Member is the path of the member, such as rules[2].check.
	Member string
	// Text says what is wrong.
	Text string
}

// DefinitionError refuses a definition, with everything that is wrong in it.
type DefinitionError struct {
	// Source is the file or name the definition came from.
	Source string
	// Problems has at least one entry, in the order of the lines.
	Problems []Problem
}

// Error gives a line per problem, as compilers do.
func (e *DefinitionError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s:%d: %s: %s", e.Source, p.Line, p.Member, p.Text)
		if p.Member == "" {
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Source, p.Line, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong by member; lines are looked up at the end.
type problems []Problem

const maxProblems = 50

func (p *problems) add(member, format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, Problem{Member: member, Text: fmt.Sprintf(format, args...)})
	}
}

// at is the path of a list's item.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
