package record

// The functions in this file iterate over JSON without converting it. They expect a text that
// passed check, or at least json.Valid, and stop at anything else. The values that they yield are
// parts of the text itself, so numbers keep their digits.

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// lenient returns options that disable the checks of jsontext that check has made already.
func lenient() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}

// members yields the members of an object: each name unescaped and each value as written. It yields
// nothing for a value that is not an object.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d := enter(object, '{')
		for d != nil && d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return
			}
			text := name.String() // copy it before the next read reuses the token's memory
			value, err := d.ReadValue()
			if err != nil || !yield(text, value) {
				return
			}
		}
	}
}

// elements yields the elements of an array as written. It yields nothing for a value that is not an
// array.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		d := enter(array, '[')
		for d != nil && d.PeekKind() != ']' {
			if value, err := d.ReadValue(); err != nil || !yield(value) {
				return
			}
		}
	}
}

// enter returns a decoder that has read the opening bracket of a value, or nil if the value has
// another one. A decoder that reads from a bytes.Buffer yields parts of the buffer's memory.
func enter(value []byte, bracket jsontext.Kind) *jsontext.Decoder {
	if kind(value) != bracket {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(value), lenient()...)
	_, _ = d.ReadToken() // the bracket
	return d
}

// kind returns the type of a value by its first byte: one of { [ " t f n, or 0 for a number.
func kind(value []byte) jsontext.Kind { return jsontext.Value(value).Kind() }

// unquote returns the text of a JSON string.
func unquote(raw []byte) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // half of a surrogate pair becomes U+FFFD
	return string(text)
}

// MemberAt returns the path of the member with the first value on a line of JSON or below, such as
// state.build.key.
func MemberAt(text []byte, line int) string {
	values := jsontext.NewDecoder(bytes.NewReader(text), lenient()...)
	for {
		token, err := values.ReadToken()
		if err != nil {
			return "something"
		}
		in, tokens := values.StackIndex(values.StackDepth())
		isName := in == '{' && tokens%2 == 1
		if !isName && !strings.ContainsRune("{}[]", rune(token.Kind())) && 1+bytes.Count(text[:values.InputOffset()], []byte{'\n'}) >= line {
			return strings.Join(slices.Collect(values.StackPointer().Tokens()), ".")
		}
	}
}
