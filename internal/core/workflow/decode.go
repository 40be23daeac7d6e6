package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"git-checkpoint/internal/format/name"
)

// Limits of the JSON that is parsed: nesting depth, and bytes of a document and of a definition.
const (
	maxDepth          = 100
	maxDocumentSize   = 50 << 20
	maxDefinitionSize = 256 << 10
)

// decode reads one JSON value strictly: valid UTF-8, no duplicate keys, at most maxDepth deep and
// at most limit bytes. Integers that fit become int and other numbers float64. The decoded values
// are only used in comparisons; what is stored is always the original text, so no digit gets lost.
func decode(data []byte, limit int) (any, error) { return decodeAt(data, limit, nil) }

// decodeAt is decode that also adds the offset of every value to offsets, by path, unless that is
// nil. The offset is one in the line in which the value begins.
func decodeAt(data []byte, limit int, offsets map[string]int) (any, error) {
	if len(data) > limit {
		return nil, fmt.Errorf("%d bytes of JSON; the limit is %d", len(data), limit)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("not valid UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		if syntax, is := errors.AsType[*json.SyntaxError](err); is {
			return nil, &offsetError{syntax.Offset, "not valid JSON: " + syntax.Error()}
		}
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	d := decoder{jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), offsets}
	return d.value("", 0)
}

// offsetError is an error at a byte offset of the text.
type offsetError struct {
	offset  int64
	problem string
}

func (e *offsetError) Error() string { return e.problem }

// decoder builds the values of valid JSON token by token, because no Unmarshal names the member that
// occurs twice, tells integers from other numbers, and says where a value stood.
type decoder struct {
	*jsontext.Decoder
	offsets map[string]int
}

// fault is an error at the current position.
func (d decoder) fault(format string, args ...any) error {
	return &offsetError{d.InputOffset(), fmt.Sprintf(format, args...)}
}

// value reads one value. path is only right if there are offsets.
func (d decoder) value(path string, depth int) (any, error) {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, d.fault("more than %d levels deep", maxDepth)
	case d.offsets != nil:
		d.offsets[path] = int(d.InputOffset())
	}
	switch token.Kind() {
	case '{':
		return d.object(path, depth)
	case '[':
		return d.list(path, depth)
	case '0':
		return decodeNumber(token.String()), nil
	case '"':
		return token.String(), nil
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func (d decoder) object(path string, depth int) (any, error) {
	members := map[string]any{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		if _, twice := members[key]; twice {
			return nil, d.fault("member %q occurs twice", shorten(key, 80))
		}
		child := ""
		if d.offsets != nil {
			child = join(path, key)
		}
		if members[key], err = d.value(child, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken() // the brace
	return members, err
}

func (d decoder) list(path string, depth int) (any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		child := ""
		if d.offsets != nil {
			child = itemPath(path, len(items))
		}
		item, err := d.value(child, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken() // the bracket
	return items, err
}

// decodeNumber reads a number. A value that is out of range for float64 becomes the largest finite
// one, because an infinity could not be written back as JSON.
func decodeNumber(digits string) any {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(digits, 64)
	return max(-math.MaxFloat64, min(math.MaxFloat64, f))
}

// join appends a member name to a path. The path of the document itself is "".
func join(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// shorten cuts s to at most n bytes at a character boundary and appends an ellipsis if it cut
// something.
func shorten(s string, n int) string { return name.Short(s, n) }

// assign copies a decoded JSON value into a variable of one of the types in definition.go. It adds
// a problem with the path for each unknown member and each value of the wrong type.
//
// encoding/json is not used, because it accepts "Rules" for "rules" and stops at the first error.
// It would also spend more time on inspecting the types, at every start of the program, than
// parsing the default definition takes.
func assign(value any, into reflect.Value, path string, found *problems) {
	switch into.Kind() {
	// Only State.Schema is an interface. It stays decoded JSON until buildSchema reads it.
	case reflect.Interface:
		if value != nil {
			into.Set(reflect.ValueOf(value))
		}
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		assign(value, into.Elem(), path, found)
	case reflect.Struct:
		if object, ok := objectIn(value, path, found); ok {
			assignMembers(object, into, path, found)
		}
	case reflect.Map:
		object, ok := objectIn(value, path, found)
		if !ok {
			return
		}
		into.Set(reflect.MakeMapWithSize(into.Type(), len(object)))
		for _, name := range sortedKeys(object) {
			item := reflect.New(into.Type().Elem()).Elem()
			assign(object[name], item, join(path, name), found)
			into.SetMapIndex(reflect.ValueOf(name), item)
		}
	case reflect.Slice:
		items, ok := value.([]any)
		if !ok {
			found.add(path, "%s where a list is expected", kind(value))
			return
		}
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		for i, item := range items {
			assign(item, into.Index(i), itemPath(path, i), found)
		}
	default:
		scalar := reflect.ValueOf(value)
		if !scalar.IsValid() || scalar.Kind() != into.Kind() {
			found.add(path, "%s where %s is expected", kind(value), expected(into.Kind()))
			return
		}
		into.Set(scalar.Convert(into.Type()))
	}
}

// objectIn returns value as an object, or adds a problem.
func objectIn(value any, path string, found *problems) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		found.add(path, "%s where an object is expected", kind(value))
	}
	return object, ok
}

// assignMembers copies the members of an object into the fields of a struct. It counts what it
// used, so that the list of known names is only built when there is an unknown member to report.
func assignMembers(object map[string]any, into reflect.Value, path string, found *problems) {
	left := len(object)
	for i := range into.NumField() {
		name := memberName(into.Type().Field(i))
		if value, ok := object[name]; ok && name != "" {
			assign(value, into.Field(i), join(path, name), found)
			left--
		}
	}
	if left == 0 {
		return
	}
	known := map[string]bool{}
	for i := range into.NumField() {
		known[memberName(into.Type().Field(i))] = true
	}
	delete(known, "")
	for _, name := range sortedKeys(object) {
		if !known[name] {
			found.add(join(path, name), "unknown member; known members: %s", strings.Join(sortedKeys(known), ", "))
		}
	}
}

// memberName returns the JSON name of a field, or "" if the field is not part of the JSON.
func memberName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// expected names the type that a definition needs at a scalar.
func expected(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}
