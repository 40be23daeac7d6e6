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
