package record

import (
	"bytes"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions here read a text that passed check, or at least json.Valid; they stop at
// what is not JSON. What they yield are parts of the text itself, so numbers keep their
// digits.

// lenient does not look again for what check refuses.
func lenient() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}

// members yields the members of an object: names unescaped, values as written.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d := enter(object, '{')
		defer leave(d)
		for d != nil && d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return
			}
			text := name.String() // before the next read takes the token's memory
			value, err := d.ReadValue()
			if err != nil || !yield(text, value) {
				return
			}
		}
	}
}

// elements yields the elements of an array, as written.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		d := enter(array, '[')
		defer leave(d)
		for d != nil && d.PeekKind() != ']' {
			if value, err := d.ReadValue(); err != nil || !yield(value) {
				return
			}
		}
	}
}

// decoders are those that nobody uses now: a record has thirty objects and lists, and
// there may be thousands of records.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// enter steps over the opening bracket of a value, and gives nil where it has another. A
// decoder on a bytes.Buffer yields parts of the buffer's memory, so values stay good.
func enter(value []byte, bracket jsontext.Kind) *jsontext.Decoder {
	if kind(value) != bracket {
		return nil
	}
	d, _ := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(value), lenient()...)
	_, _ = d.ReadToken() // the bracket
	return d
}

func leave(d *jsontext.Decoder) {
	if d != nil {
		decoders.Put(d)
	}
}

// kind tells the type of a value by its first byte: { [ " t f n, or 0 for a number.
func kind(value []byte) jsontext.Kind { return jsontext.Value(value).Kind() }

// unquote gives the text of a JSON string.
func unquote(raw []byte) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // half of a surrogate pair becomes U+FFFD
	return string(text)
}
