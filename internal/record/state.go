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

// maxPath is how long a path into a document may be, in bytes.
const maxPath = 4096

// maxAnswer bounds what a query may build out of a document.
const maxAnswer = 256 << 20

// PathError says why a path into a document cannot be used. Missing is set when
// the path is fine and nothing stands there.
type PathError struct {
	Path    string
	Reason  string
	Missing bool
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q: %s", clip(e.Path, 200), e.Reason)
}

// ParseJSON takes one JSON value as strictly as Parse takes a record: bounded size
// and depth, UTF-8, no duplicate members. Numbers keep their digits. The depth
// that is the default leaves room for the record around it.
func ParseJSON(data []byte, limits Limits) (json.RawMessage, error) {
	if err := check(data, limits.orDefault(MaxDepth-1)); err != nil {
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	return slices.Clone(json.RawMessage(bytes.TrimLeft(data, " \t\r\n"))), nil
}

// ParseValue takes a value as people type it: JSON, else the text as a string. JSON
// that breaks a limit or has duplicate members is an error, not a string.
func ParseValue(text string, limits Limits) (json.RawMessage, error) {
	value, err := ParseJSON([]byte(text), limits)
	if fault := (*JSONError)(nil); errors.As(err, &fault) && fault.syntax {
		return json.RawMessage(appendText(nil, text)), nil
	}
	return value, err
}

// Get is the value that a gjson path gives in a document, as written there. The
// error is a *PathError with Missing set when there is none.
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
		return nil, &PathError{Path: path, Reason: "this does not give a JSON value"}
	}
	return json.RawMessage(trimmed([]byte(found.Raw))), nil
}

// checkQuery keeps an answer from growing beyond reason. Each further part of
// "[a,b]" may double what the ones before it gave; a modifier may write six bytes
// for one, @dig a value once for each level, @pretty its own indentation.
func checkQuery(document []byte, path string) error {
	if path == "" || len(path) > maxPath {
		return &PathError{Path: path, Reason: fmt.Sprintf("a path has 1 to %d bytes", maxPath)}
	}
	doublings := 0
	for i := 0; i < len(path); i++ {
		switch rest := path[i:]; {
		case path[i] == '\\':
			i++ // what follows is part of a name
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
