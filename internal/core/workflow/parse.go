package workflow

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
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
