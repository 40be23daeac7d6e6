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
	"github.com/tidwall/gjson"
)

// check holds the rules that every JSON text from outside has to pass: bounded size and
// depth, UTF-8, one value, and nothing that JSON readers disagree about (two members of
// one name in an object, half of a surrogate pair).
func check(data []byte, limits Limits) error {
	if int64(len(data)) > limits.Size {
		return &SizeError{Size: int64(len(data)), Limit: limits.Size}
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
		case depth == 0:
			if _, err := tokens.ReadToken(); err != io.EOF { //nolint:errorlint // jsontext does not wrap it
				return syntaxError(data)
			}
			return nil
		}
	}
}

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

// strictError turns what jsontext found wrong into a JSONError. jsontext also refuses
// some JSON; ParseValue has to tell that from a text that is not JSON at all.
func strictError(data []byte, err error) error {
	var found *jsontext.SyntacticError
	if !json.Valid(data) || !errors.As(err, &found) {
		return syntaxError(data)
	}
	reason := "text with half of a surrogate pair"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = "a second member of this name"
	}
	var path []string
	for part := range found.JSONPointer.Tokens() {
		path = append(path, gjson.Escape(clip(part, 200)))
	}
	return jsonError(data, int(found.ByteOffset), strings.Join(path, "."), reason)
}

func syntaxError(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	e := jsonError(data, len(data), "", "not JSON")
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		// Offset is where reading stopped: behind the byte in question, except for a
		// text that ends too soon.
		if e = jsonError(data, int(syntax.Offset)-1, "", "not JSON: "+syntax.Error()); strings.HasPrefix(syntax.Error(), "unexpected end") {
			e = jsonError(data, len(data), "", e.Reason)
		}
	}
	e.syntax = true
	return e
}

// clip keeps what an error says of a hostile name short.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
