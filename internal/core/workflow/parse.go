package workflow

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/sys/gather"
)

// Parse reads a definition. A broken one gets a *DefinitionError that lists every problem with line
// and member; source is the name of the text in these messages. Parse compiles all expressions,
// templates and the schema, so that a definition that it accepts does not fail to compile later.
func Parse(data []byte, source string) (*Definition, error) { return parse(data, source, false) }

// Check is Parse for the author of a definition. It also refuses unknown names and missing
// arguments inside the arguments of a function, which Parse takes for null, because definitions that
// have them were accepted before.
func Check(data []byte, source string) (*Definition, error) { return parse(data, source, true) }

func parse(data []byte, source string, strict bool) (*Definition, error) {
	// Windows editors start a file with a byte order mark, which JSON does not allow.
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	value, err := decode(data, maxDefinitionSize)
	if err != nil {
		return nil, &DefinitionError{source, []Problem{{Line: lineOf(data, err), Text: err.Error()}}}
	}
	var found problems
	d := &Definition{source: slices.Clone(data)}
	d.programs.strict = strict
	assign(value, reflect.ValueOf(d).Elem(), "", &found)
	if len(found) == 0 {
		verifier{d, &found}.verify()
	}
	if len(found) > 0 {
		return nil, &DefinitionError{source, locate(data, found)}
	}
	return d, nil
}

// lineOf returns the line of an error from decode, or 1 if the error has no offset.
func lineOf(data []byte, err error) int {
	var where *offsetError
	if !errors.As(err, &where) {
		return 1
	}
	return line(data, int(where.offset))
}

// line returns the line number of a byte offset, counted from 1.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte{'\n'})
}

// locate sets the line of every problem and sorts the problems by line. A problem about a member
// that is missing gets the line of its closest parent that exists. The text is decoded a second
// time for this, so that a correct definition does not pay for keeping the offsets.
func locate(data []byte, found problems) []Problem {
	offsets := map[string]int{}
	_, _ = decodeAt(data, maxDefinitionSize, offsets)
	for i, p := range found {
		member := p.Member
		offset, ok := offsets[member]
		for !ok && member != "" {
			member = member[:max(0, strings.LastIndexAny(member, ".["))]
			offset, ok = offsets[member]
		}
		found[i].Line = line(data, offset)
	}
	slices.SortStableFunc(found, func(a, b Problem) int { return a.Line - b.Line })
	return found
}

//go:embed definitions/*.json
var definitions embed.FS

// DefaultName is the definition of sessions that were started without a workflow.
const DefaultName = "default"

// AgentName is the definition of sessions that an agent's hooks start.
const AgentName = "agent"

// Names returns the names of the built-in definitions, sorted.
func Names() []string {
	entries, err := definitions.ReadDir("definitions")
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".json")
	}
	slices.Sort(names)
	return names
}

// builtins keeps what Builtin returned, by name.
var builtins sync.Map

// Builtin returns a built-in definition; ok is false if there is none with that name. Unlike Parse
// it does not verify the definition or compile its expressions, because every start of the program
// pays for this. A test verifies that all built-in definitions are correct.
func Builtin(name string) (d *Definition, ok bool) {
	if kept, ok := builtins.Load(name); ok {
		return kept.(*Definition), true
	}
	data, err := definitions.ReadFile("definitions/" + name + ".json")
	if err != nil {
		return nil, false
	}
	value, err := decode(data, maxDefinitionSize)
	if err != nil {
		return nil, false
	}
	var found problems
	d = &Definition{source: data}
	assign(value, reflect.ValueOf(d).Elem(), "", &found)
	builtins.Store(name, d)
	return d, len(found) == 0
}

// Default returns the definition that applies without a workflow.
func Default() *Definition {
	d, _ := Builtin(DefaultName)
	return d
}

// Origin returns the name of the built-in definition that has the same document layout as d, or "".
// It recognises a renamed copy of a built-in definition, whatever else was changed in it.
func (d *Definition) Origin() string {
	same := func(b *Definition) bool {
		return reflect.DeepEqual(b.Document, d.Document) && reflect.DeepEqual(b.State.Members, d.State.Members)
	}
	if same(Default()) {
		return "" // it has no documents of its own
	}
	for _, n := range Names() {
		if b, ok := Builtin(n); ok && same(b) {
			return n
		}
	}
	return ""
}

// JSON returns the text of the definition as it was written.
func (d *Definition) JSON() json.RawMessage { return slices.Clone(d.source) }

// Branch returns the name of the branch that `session start --branch` creates for a session.
func (d *Definition) Branch(session string) string {
	source := cmp.Or(d.Session.Branch, "{workflow}/{session}")
	return d.evaluatorOver(sessionScope(), map[string]any{"workflow": d.Name, "session": session}).fill(source)
}

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
