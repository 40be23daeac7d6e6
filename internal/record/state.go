package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maxPath is the maximum length of a path into a document, in bytes.
const maxPath = 4096

// maxAnswer limits the size of a query's result, in bytes. It may be larger than the document.
const maxAnswer = 256 << 20

// PathError reports why a path into a document cannot be used. Missing means that the path is valid
// but there is no value.
type PathError struct {
	Path    string
	Reason  string
	Missing bool
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: %s", clip(e.Path, 200), e.Reason)
}

// ParseJSON reads one JSON value with the same strictness as Parse: limited size and depth, UTF-8,
// no duplicate members. It returns a copy, and numbers keep their digits. The default depth leaves
// room for the record around the value.
func ParseJSON(data []byte, limits Limits) (json.RawMessage, error) {
	if err := check(data, limits.orDefault(MaxDepth-1)); err != nil {
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	return slices.Clone(json.RawMessage(bytes.TrimLeft(data, " \t\r\n"))), nil
}

// ParseValue reads a value as typed on the command line: JSON, or else the text itself as a string.
// JSON that exceeds a limit or has duplicate members is an error, not a string.
func ParseValue(text string, limits Limits) (json.RawMessage, error) {
	value, err := ParseJSON([]byte(text), limits)
	if fault := (*JSONError)(nil); errors.As(err, &fault) && fault.syntax {
		return json.RawMessage(appendText(nil, text)), nil
	}
	return value, err
}

// Get returns the value at a gjson path, as written in the document. If there is none, the error is
// a *PathError with Missing set.
func Get(document []byte, path string) (json.RawMessage, error) {
	if err := checkQuery(document, path); err != nil {
		return nil, err
	}
	if err := check(document, Limits{Size: math.MaxInt64, Depth: MaxDepth}); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	found := gjson.GetBytes(document, path)
	if !found.Exists() {
		return nil, &PathError{Path: path, Reason: "nothing is there", Missing: true}
	}
	if !json.Valid([]byte(found.Raw)) {
		return nil, &PathError{Path: path, Reason: "the result is not a JSON value"}
	}
	return json.RawMessage(trimmed([]byte(found.Raw))), nil
}

// checkQuery rejects queries whose result could become huge. It estimates how often the result
// doubles in size: each further part of "[a,b]" may double it, a modifier may write six bytes for
// one, @dig may repeat a value once per level, and @pretty adds indentation.
func checkQuery(document []byte, path string) error {
	if path == "" || len(path) > maxPath {
		return &PathError{Path: path, Reason: fmt.Sprintf("a path has 1 to %d bytes", maxPath)}
	}
	doublings := 0
	for i := 0; i < len(path); i++ {
		switch rest := path[i:]; {
		case path[i] == '\\':
			i++ // the escaped character is part of a name
		case path[i] == ',':
			doublings++
		case strings.HasPrefix(rest, "@dig"):
			doublings += 7
		case strings.HasPrefix(rest, "@pretty"):
			doublings += 13
		case path[i] == '@':
			doublings += 3
		}
	}
	if doublings > 0 && (doublings > 28 || len(document)<<doublings > maxAnswer) {
		return &PathError{Path: path, Reason: "too many parts and modifiers for a document of this size"}
	}
	return nil
}
