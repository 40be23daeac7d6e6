package workflow

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Parse reads a definition and refuses a broken one with a *DefinitionError that
// names line and member of everything wrong; source is what messages call the
// text. All expressions, templates and the schema are compiled, so that nothing
// can turn out to be broken later.
func Parse(data []byte, source string) (*Definition, error) {
	value, err := decode(data, maxDefinitionSize)
	if err != nil {
		return nil, &DefinitionError{source, []Problem{{Line: lineOf(data, err), Text: err.Error()}}}
	}
	var found problems
	d := &Definition{source: slices.Clone(data)}
	assign(value, reflect.ValueOf(d).Elem(), "", &found)
	if len(found) == 0 {
		d.verify(&found)
	}
	if len(found) > 0 {
		return nil, &DefinitionError{source, locate(data, found)}
	}
	return d, nil
}

func lineOf(data []byte, err error) int {
	var where *offsetError
	if !errors.As(err, &where) {
		return 1
	}
	return line(data, int(where.offset))
}

func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte{'\n'})
}

// locate gives every problem its line; a member that is not there has its
// parent's. It reads the text a second time, because only broken definitions pay.
func locate(data []byte, found problems) []Problem {
	offsets := map[string]int{}
	_, _ = decodeAt(data, maxDefinitionSize, func(path string, offset int) { offsets[path] = offset })
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
