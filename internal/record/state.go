package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// maxPath is the maximum length of a path into a document, in bytes.
const maxPath = 4096

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
