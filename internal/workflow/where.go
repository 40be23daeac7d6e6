package workflow

import (
	"encoding/json"
	"errors"
	"maps"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"
)

// recordMembers are the variables of an expression over a checkpoint's record.
var recordMembers = [...]string{
	"id", "label", "session", "step", "step_name", "iteration", "milestone", "trigger", "status", "message", "created_at",
	"workflow", "previous", "state", "outputs", "error", "git", "files", "snapshot", "topic", "agent",
}

// listMembers are variables that a list knows of a checkpoint and its record does not.
var listMembers = [...]string{"commit", "current", "discarded", "pinned", "valid", "problem", fileCount}

// fileCount is what "files" means by itself, the number that a list shows. The record has
// an object of that name, and "files.created" means that one.
const fileCount = "__files"

// Condition is an expression over a checkpoint.
type Condition struct {
	program *program
	words   map[string]bool
}

// Where compiles an expression over the members of a record and of the line that a list
// has for it.
func Where(text string) (*Condition, error) {
	s := scope{"record", types.Map{}}
	for _, m := range append(recordMembers[:], listMembers[:]...) {
		s.vars[m] = types.Any
	}
	words := &wordReader{words: map[string]bool{}}
	p, err := newLanguage().compile(s, text, "", words)
	if err != nil {
		return nil, err
	}
	return &Condition{p, words.words}, nil
}

// Asks reports whether the expression names a variable or has a text that is word.
func (c *Condition) Asks(word string) bool { return c.words[word] }

// Holds reports whether the value is true for a record, nil where it cannot be read, and its
// line in a list. A checkpoint that lacks what the expression asks for does not fit. The error
// is that the expression does not end within bounds.
func (c *Condition) Holds(record json.RawMessage, line map[string]any) (bool, error) {
	vars := maps.Clone(line)
	if members, ok := value(record).(map[string]any); ok {
		maps.Copy(vars, members)
	}
	// A record cannot say what the list knows better: it was written before.
	for _, m := range listMembers {
		vars[m] = line[m]
	}
	vars[fileCount] = line["files"]
	got, err := newMeter(record).run(c.program, vars)
	if errors.Is(err, errTooMuch) {
		return false, err
	}
	return got == true, nil
}

// wordReader collects names and texts, and tells the two meanings of "files" apart.
type wordReader struct{ words map[string]bool }

// Visit is called for children before their parents.
func (r *wordReader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		r.words[n.Value] = true
		if n.Value == "files" {
			n.Value = fileCount
		}
	case *ast.StringNode:
		r.words[n.Value] = true
	case *ast.MemberNode:
		if of, ok := n.Node.(*ast.IdentifierNode); ok && of.Value == fileCount {
			of.Value = "files"
		}
	}
}
