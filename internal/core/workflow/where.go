package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"
)

// recordMembers are the variables that come from a checkpoint's record.
var recordMembers = [...]string{
	"id", "label", "session", "step", "step_name", "iteration", "milestone", "trigger", "status", "message", "created_at",
	"workflow", "previous", "state", "outputs", "error", "git", "files", "snapshot", "topic", "agent",
}

// listMembers are the variables that only a list of checkpoints can supply: they change after the
// record was written, or depend on the state of the repository.
var listMembers = [...]string{"commit", "current", "discarded", "pinned", "valid", "problem", "incomplete", fileCount}

// fileCount is the variable for "files" when it stands alone: the number of files that a list
// shows. The record has an object of the same name, which is what the "files" in "files.created"
// refers to. An author cannot write this name.
const fileCount = "number of files"

// Condition is a compiled expression over a checkpoint, as given to `list --where`. words are the
// names and texts that occur in it.
type Condition struct {
	program *program
	words   map[string]bool
}

// Where compiles an expression over the members of a record and of its line in a list. It has the
// same language and limits as the expressions of a definition.
func Where(text string) (*Condition, error) {
	s := scope{"record", types.Map{}}
	for _, m := range append(recordMembers[:], listMembers[:]...) {
		s.vars[m] = types.Any
	}
	words := &wordReader{words: map[string]bool{}}
	p, err := compile(true, s, text, "", words)
	if err != nil {
		return nil, err
	}
	return &Condition{p, words.words}, nil
}

// Asks reports whether word occurs in the expression as a variable or a text. A list uses it to
// decide whether it has to include checkpoints, or compute values, that it would otherwise leave
// out.
func (c *Condition) Asks(word string) bool { return c.words[word] }

// Holds evaluates the condition for one checkpoint. record is nil if it cannot be read; line has
// the values of the list. A condition that fails, because the checkpoint lacks what it asks for, is
// false. The only error is that the expression exceeded the limit of its work.
func (c *Condition) Holds(record json.RawMessage, line map[string]any) (bool, error) {
	vars := maps.Clone(line)
	if members, ok := value(record).(map[string]any); ok {
		maps.Copy(vars, members)
	}
	// The list's values take precedence: a record may have members with these names, but it was
	// written before they were known.
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

// wordReader is a visitor that collects names and texts, notes whether a function is called, and separates the
// two meanings of "files".
type wordReader struct {
	words map[string]bool
	calls bool
}

// Visit is called for children before their parents. So "files" is renamed when it is visited as an
// identifier, and renamed back if its parent turns out to be a member access.
func (r *wordReader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		r.words[n.Value] = true
		if n.Value == "files" {
			n.Value = fileCount
		}
	case *ast.StringNode:
		r.words[n.Value] = true
	case *ast.CallNode, *ast.BuiltinNode:
		r.calls = true
	case *ast.MemberNode:
		if of, ok := n.Node.(*ast.IdentifierNode); ok && of.Value == fileCount {
			of.Value = "files"
		}
	}
}

// Numbers is a compiled condition over numbers that have names, such as "none == 0".
type Numbers struct {
	program *program
	names   *wordReader
}

// OverNumbers compiles a condition in the language of Where, without functions.
func OverNumbers(text string, names ...string) (*Numbers, error) {
	s := scope{"numbers", types.Map{}}
	for _, n := range names {
		s.vars[n] = types.Int
	}
	r := &wordReader{words: map[string]bool{}}
	p, err := compile(true, s, text, "bool", r)
	if err == nil && r.calls {
		err = errors.New("there are no functions here")
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the numbers are %v", err, names)
	}
	return &Numbers{p, r}, nil
}

// Asks reports whether a name occurs in the condition.
func (c *Numbers) Asks(name string) bool { return c.names.words[name] }

// Holds evaluates the condition.
func (c *Numbers) Holds(of map[string]int) (bool, error) {
	vars := make(map[string]any, len(of))
	for name, n := range of {
		vars[name] = n
	}
	got, err := newMeter(nil).run(c.program, vars)
	return got == true, err
}
