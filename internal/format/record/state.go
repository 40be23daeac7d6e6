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

// badPath returns the error for a path into a document that cannot be used.
func badPath(path, reason string, args ...any) error {
	return fmt.Errorf("path %q: "+reason, append([]any{clip(path, 200)}, args...)...)
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
func ParseValue(text string) (json.RawMessage, error) {
	value, err := ParseJSON([]byte(text), Limits{})
	if fault, is := errors.AsType[*JSONError](err); is && fault.syntax {
		return json.RawMessage(appendText(nil, text)), nil
	}
	return value, err
}
