package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"git-checkpoint/internal/format/name"
)

// check enforces the rules for every JSON text from outside: limits (no Values: any number), valid UTF-8, a
// single value, and nothing that JSON parsers interpret differently (duplicate members, half of a
// surrogate pair). The error is a *SizeError or a *JSONError. Code that runs after check may assume
// valid JSON.
func check(data []byte, limits Limits) error {
	if int64(len(data)) > limits.Size {
		return &SizeError{Size: int64(len(data)), Limit: limits.Size}
	}
	// Counting the commas in strings, too, is faster, and nearly always enough.
	if limits.Values > 0 && bytes.Count(data, []byte(","))+bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > int(limits.Values) {
		if n := countValues(data); n > limits.Values {
			return &SizeError{Size: n, Limit: limits.Values, Values: true}
		}
	}
	if !utf8.Valid(data) {
		return jsonError(data, firstInvalid(data), "", "not UTF-8")
	}
	tokens := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		if _, err := tokens.ReadToken(); err != nil {
			return strictError(data, err)
		}
		switch depth := tokens.StackDepth(); {
		case depth > limits.Depth:
			e := jsonError(data, int(tokens.InputOffset())-1, "", fmt.Sprintf("nested more than %d deep", limits.Depth))
			e.TooDeep = true
			return e
		// The value is complete. Anything but white space after it is an error.
		case depth == 0:
			if _, err := tokens.ReadToken(); err != io.EOF { //nolint:errorlint // jsontext does not wrap it
				return syntaxError(data)
			}
			return nil
		}
	}
}

// firstInvalid returns the offset of the first byte that is not valid UTF-8.
func firstInvalid(data []byte) int {
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(data)
}

// strictError converts an error of jsontext to a *JSONError. jsontext also rejects some texts that
// encoding/json accepts. ParseValue has to distinguish these from texts that are not JSON at all,
// so only the latter get the syntax flag.
func strictError(data []byte, err error) error {
	found, is := errors.AsType[*jsontext.SyntacticError](err)
	if !is || !json.Valid(data) {
		return syntaxError(data)
	}
	reason := "text with half of a surrogate pair"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = "a second member of this name"
	}
	return jsonError(data, int(found.ByteOffset), gjsonPath(found.JSONPointer), reason)
}

// syntaxError returns the error for a text that is not JSON, with the place and reason that
// encoding/json reports.
func syntaxError(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	e := jsonError(data, len(data), "", "not JSON")
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		// Offset is the number of bytes read, so the offending byte is the one before it, except
		// for a text that ends too early.
		if e = jsonError(data, int(syntax.Offset)-1, "", "not JSON: "+syntax.Error()); strings.HasPrefix(syntax.Error(), "unexpected end") {
			e = jsonError(data, len(data), "", e.Reason)
		}
	}
	e.syntax = true
	return e
}

// clip shortens a string for an error message to limit bytes, since hostile names may be very long.
func clip(s string, limit int) string { return name.Short(s, limit) }

// MaxSize, MaxDepth and MaxValues are the default limits of a record, in bytes, in nested brackets, and
// in members and elements of all its objects and lists. A state may be 100 deep, and the record around
// it adds one. Two million members, which fit in MaxSize bytes, would take a create half a minute.
const (
	MaxSize   = 50 << 20
	MaxDepth  = 101
	MaxValues = 500_000
)

// Limits restricts a JSON text before it is parsed. A zero member means the default: MaxSize bytes,
// MaxValues members and elements, and MaxDepth brackets for a record or one less for a value inside a
// record.
type Limits struct {
	Size   int64 // bytes
	Depth  int   // nested brackets
	Values int64 // members and elements
}

// orDefault returns l with defaults in place of zeros. depth is the default depth.
func (l Limits) orDefault(depth int) Limits {
	if l.Size <= 0 {
		l.Size = MaxSize
	}
	if l.Depth <= 0 {
		l.Depth = depth
	}
	if l.Values <= 0 {
		l.Values = MaxValues
	}
	return l
}

// SizeError reports a text that is larger than its limit, in bytes or in members and elements. For a
// record, the user can move a large part of the state into an output.
type SizeError struct {
	Size, Limit int64
	Values      bool // they count members and elements, not bytes
}

func (e *SizeError) Error() string {
	if e.Values {
		return fmt.Sprintf("%d members and elements in JSON; the limit is %d", e.Size, e.Limit)
	}
	return fmt.Sprintf("%d bytes of JSON; the limit is %d", e.Size, e.Limit)
}

// countValues returns how many members and elements a JSON text has. It takes little time and no
// memory. An empty object or list counts as one. The count may be wrong for text that is not JSON.
func countValues(data []byte) (n int64) {
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case ',', '[', '{':
			n++
		case '"':
			i += quoted(data[i:]) - 1
		}
	}
	return n
}

// storedSize returns how many bytes a record has when it is written as Marshal writes it: indented,
// and with control characters escaped. A compact text may grow a hundredfold, and what it holds could
// not be carried over to the next record. data must have passed check.
func storedSize(data []byte) int64 {
	var size written
	in := jsontext.NewDecoder(bytes.NewBuffer(data), lenient()...)
	out := jsontext.NewEncoder(&size, append(lenient(), jsontext.WithIndent("  "), jsontext.PreserveRawStrings(true))...)
	for next := in.PeekKind(); next != 0; next = in.PeekKind() {
		if next == '{' || next == '}' || next == '[' || next == ']' {
			bracket, _ := in.ReadToken() //nolint:errcheck // check has read it
			out.WriteToken(bracket)      //nolint:errcheck // as above
		} else {
			value, _ := in.ReadValue()            //nolint:errcheck // as above
			out.WriteValue(escapeControls(value)) //nolint:errcheck // as above
		}
	}
	return int64(size)
}

// written counts what is written to it, in bytes.
type written int64

func (w *written) Write(p []byte) (int, error) {
	*w += written(len(p))
	return len(p), nil
}

// quoted returns the length of the string that a text begins with.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// JSONError reports where and why a JSON text was rejected.
type JSONError struct {
	Path    string // of the bad value, in gjson's syntax; empty: the top, or not known
	Offset  int    // in bytes, from 0
	Line    int    // from 1
	Reason  string
	TooDeep bool // nested deeper than the limit
	syntax  bool // it is not JSON at all; see ParseValue
}

func (e *JSONError) Error() string {
	where := fmt.Sprintf("line %d, offset %d", e.Line, e.Offset)
	if e.Path != "" {
		where += fmt.Sprintf(", at %q", clip(e.Path, 100))
	}
	return where + ": " + e.Reason
}

// jsonError returns a JSONError for an offset, which it limits to the text.
func jsonError(data []byte, offset int, path, reason string) *JSONError {
	offset = max(0, min(offset, len(data)))
	line := 1 + bytes.Count(data[:offset], []byte("\n"))
	return &JSONError{Path: path, Offset: offset, Line: line, Reason: reason}
}

// FormatError reports a record that was written in a newer format.
type FormatError struct {
	Format string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the record has format %s, but this version reads only up to format %d; use a git-checkpoint that knows format %s", e.Format, Format, e.Format)
}
