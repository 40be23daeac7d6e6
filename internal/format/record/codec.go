package record

// The tags of the structs say what members a record has, in which order they are written, and which
// are left out when empty. This file has what tags cannot say: how texts, numbers and times are
// written, what is refused, and where null stands for an empty text.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lazy"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// reading has the options to read a text. Duplicate members and invalid UTF-8 are allowed because check
// has refused them.
var reading = sync.OnceValue(func() jsonv2.Options {
	return jsonv2.JoinOptions(append(lenient(), jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
		jsonv2.UnmarshalFromFunc(refuseNull),
		reads(name.ParseID), reads(name.ParseOID), reads(name.ParseSession), reads(parseMode), reads(parseEncoding), reads(parseTime),
		jsonv2.UnmarshalFromFunc(readPathObject), reads(parseText[Path]),
		readsNumber[int](), readsNumber[int64](), jsonv2.UnmarshalFromFunc(readCounts),
	)))...)
})

// writing has the options to write a value. Raw values keep their spelling. A second member in one of
// them is left to check, which says where it is.
var writing = sync.OnceValue(func() jsonv2.Options {
	return jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true), jsonv2.WithMarshalers(jsonv2.JoinMarshalers(
		jsonv2.MarshalToFunc(refuseKnown),
		writes(name.ParseID), writes(name.ParseOID), writes(name.ParseSession), writes(parseMode),
		jsonv2.MarshalToFunc(writePathObject), writes(parseText[Path]), writes(parseText[string]),
		writesNumber[int](), writesNumber[int64](), jsonv2.MarshalToFunc(writeTime), jsonv2.MarshalToFunc(writeRaw),
	)))
})

// stack is the place in a text that is read or written.
type stack interface{ StackPointer() jsontext.Pointer }

// isNullable reports whether null stands for an empty value at the present place. v points to it.
func isNullable(at stack, v any) bool {
	switch v.(type) {
	case *name.OID, *json.RawMessage:
		return true
	case *name.ID:
		return at.StackPointer().LastToken() == "previous"
	case *Path:
		return at.StackPointer().LastToken() == "branch"
	case *string:
		return at.StackPointer().LastToken() == "operation"
	}
	return false
}

// refuseNull refuses null where the library would read it as an empty value of any type.
func refuseNull(d *jsontext.Decoder, v any) error {
	if d.PeekKind() != 'n' || isNullable(d, v) {
		return errors.ErrUnsupported // let the next function read it
	}
	return &jsonv2.SemanticError{GoType: reflect.TypeOf(v)}
}

// refuseKnown refuses a known member among the unknown ones, which are a public field: it would be
// read as the known one.
func refuseKnown(_ *jsontext.Encoder, v any) error {
	at := reflect.ValueOf(v).Elem()
	if at.Kind() != reflect.Struct || !at.FieldByName("Extra").IsValid() {
		return errors.ErrUnsupported
	}
	for field := range at.Type().Fields() {
		tagged, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tagged != "" && at.FieldByName("Extra").MapIndex(reflect.ValueOf(tagged)).IsValid() {
			return fmt.Errorf("a known member among the unknown ones: %q", tagged)
		}
	}
	return errors.ErrUnsupported
}

// reads returns a function that reads a text by its grammar.
func reads[T any](accept func(string) (T, error)) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if kind := d.PeekKind(); kind != '"' && kind != 'n' {
			return &jsonv2.SemanticError{GoType: reflect.TypeFor[T]()}
		}
		token, err := d.ReadToken()
		if err == nil && token.Kind() == '"' {
			*to, err = accept(token.String())
		}
		return err
	})
}

// writes returns a function that writes a text, if it has its grammar.
func writes[T ~string](accept func(string) (T, error)) *jsonv2.Marshalers {
	return jsonv2.MarshalToFunc(func(e *jsontext.Encoder, text T) error {
		if text == "" && isNullable(e, &text) {
			return e.WriteToken(jsontext.Null)
		}
		if _, err := accept(string(text)); err != nil {
			return err
		}
		return e.WriteValue(appendText(e.AvailableBuffer(), string(text)))
	})
}

// readsNumber returns a function that reads a number of things: not negative and without a fraction.
func readsNumber[T ~int | ~int64]() *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if d.PeekKind() != '0' {
			return &jsonv2.SemanticError{}
		}
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		// The conversion loses bits if T is int on a 32-bit machine.
		if *to = T(n); err != nil || int64(*to) != n {
			return &jsonv2.SemanticError{}
		}
		return inRange(n, math.MaxInt64)
	})
}

func writesNumber[T ~int | ~int64]() *jsonv2.Marshalers {
	return jsonv2.MarshalToFunc(func(e *jsontext.Encoder, n T) error {
		if err := inRange(int64(n), math.MaxInt64); err != nil {
			return err
		}
		return e.WriteToken(jsontext.Int(int64(n)))
	})
}

func inRange[T ~int | ~int64](n, most T) error {
	if n < 0 || n > most {
		return fmt.Errorf("%d is out of range", n)
	}
	return nil
}

// readCounts reads three numbers.
func readCounts(d *jsontext.Decoder, to *[3]int) error {
	var numbers []int
	if err := jsonv2.UnmarshalDecode(d, &numbers, d.Options()); err != nil {
		return err
	}
	if len(numbers) != len(to) {
		return fmt.Errorf("expected %d numbers here, not %d", len(to), len(numbers))
	}
	copy(to[:], numbers)
	return nil
}

// timeForm has a fixed number of digits, so that equal times have equal texts.
const timeForm = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeForm) }

// parseTime reads a time in any RFC 3339 form.
func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || !isTime(at) {
		return at, fmt.Errorf("not an RFC 3339 time: %q", clip(s, 100))
	}
	return at.UTC().Truncate(time.Millisecond), nil
}

func writeTime(e *jsontext.Encoder, t time.Time) error {
	if !isTime(t) {
		return fmt.Errorf("not a time that RFC 3339 can express: %v", t)
	}
	return e.WriteToken(jsontext.String(formatTime(t)))
}

// isTime reports whether a time is given, and RFC 3339 can express it in UTC.
func isTime(t time.Time) bool {
	y := t.UTC().Year()
	return !t.IsZero() && y >= 1 && y <= 9999
}

// writeRaw writes any JSON as it is spelled.
func writeRaw(e *jsontext.Encoder, raw json.RawMessage) error {
	switch {
	case len(raw) == 0:
		return e.WriteToken(jsontext.Null)
	case !json.Valid(raw) || !utf8.Valid(raw):
		return errors.New("not JSON")
	}
	return e.WriteValue(jsontext.Value(raw))
}

// parseText accepts any text.
func parseText[T ~string](s string) (T, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%q is not UTF-8", clip(s, 100))
	}
	return T(s), nil
}

// mode is permission bits in octal, such as 0644 or 01777.
type mode string

var modePattern = lazy.Pattern(`^0[0-7]{3,4}$`)

func parseMode(s string) (mode, error) {
	if !modePattern().MatchString(s) {
		return "", fmt.Errorf("not an octal mode: %q", clip(s, 20))
	}
	return mode(s), nil
}

// maxStep is the highest step: an id has room for nine digits.
const maxStep = 999999999

// check returns an error for a member that has a grammar of its own, which its type does not say.
func (r *Record) check() error {
	_, label := parseLabel(r.Label)
	_, iteration := name.ParseIteration(r.Iteration)
	var checksum error
	if r.Checksum != "" {
		_, checksum = parseChecksum(r.Checksum)
	}
	for _, member := range []struct {
		at  jsontext.Pointer
		err error
	}{{"/label", label}, {"/iteration", iteration}, {"/step", inRange(r.Step, maxStep)}, {"/checksum", checksum}} {
		if member.err != nil {
			return &jsonv2.SemanticError{JSONPointer: member.at, Err: member.err}
		}
	}
	for output := range r.Outputs {
		if _, err := name.ParseOutput(output); err != nil {
			return &jsonv2.SemanticError{JSONPointer: jsontext.Pointer("/outputs").AppendToken(output), Err: err}
		}
	}
	return nil
}

// parseLabel accepts "cp-", two to nine digits, and up to 120 of A-Z a-z 0-9 . _ + -.
func parseLabel(s string) (string, error) {
	rest, ok := strings.CutPrefix(s, "cp-")
	digits := 0
	for digits < min(len(rest), 9) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	ok = ok && digits >= 2 && len(rest) <= digits+120
	for _, c := range []byte(rest) {
		ok = ok && (c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '+' || c == '-')
	}
	if !ok {
		return "", fmt.Errorf("not a label: %q", clip(s, 100))
	}
	return s, nil
}

// parseChecksum accepts "sha256:" and 64 lower-case hexadecimal digits.
func parseChecksum(s string) (string, error) {
	digits, ok := strings.CutPrefix(s, "sha256:")
	if ok && len(digits) == 64 {
		if _, err := name.ParseOID(digits); err == nil { // an id of a SHA-256 repository has the same form
			return s, nil
		}
	}
	return "", errors.New("a checksum is sha256: followed by 64 of 0-9 a-f")
}

// located converts an error of the library to a *JSONError.
func located(data []byte, err error) error {
	found, is := errors.AsType[*jsonv2.SemanticError](err)
	if !is {
		return jsonError(data, 0, "", err.Error())
	}
	path, offset := gjsonPath(found.JSONPointer), int(found.ByteOffset)
	if offset == 0 {
		offset = gjson.GetBytes(data, path).Index
	}
	if found.Err == nil {
		value, _ := jsontext.NewDecoder(bytes.NewBuffer(data[offset:]), lenient()...).ReadValue() //nolint:errcheck // check has read it
		return jsonError(data, offset, path, wrongType(jsonType(found.GoType), value).Error())
	}
	return jsonError(data, offset, path, found.Err.Error())
}

// unwritten adds the member to an error of the library.
func unwritten(err error) error {
	if found, is := errors.AsType[*jsonv2.SemanticError](err); is && found.Err != nil {
		return fmt.Errorf("member %q: %w", clip(gjsonPath(found.JSONPointer), 100), found.Err)
	}
	return err
}

// gjsonPath returns a path in gjson's syntax.
func gjsonPath(pointer jsontext.Pointer) string {
	var parts []string
	for part := range pointer.Tokens() {
		parts = append(parts, gjson.Escape(clip(part, 200)))
	}
	return strings.Join(parts, ".")
}

// jsonType says in words what is read into a type.
func jsonType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "a time"
	case t == reflect.TypeFor[Path]():
		return "a path"
	case t == reflect.TypeFor[encoding]():
		return `"percent"`
	}
	switch t.Kind() { //nolint:exhaustive // a record has no others
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}

// wrongType returns the error for a value of the wrong JSON type.
func wrongType(want string, raw []byte) error {
	return fmt.Errorf("expected %s here, not %s", want, clip(string(raw), 60))
}
