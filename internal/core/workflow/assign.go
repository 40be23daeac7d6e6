package workflow

import (
	"reflect"
	"strings"
)

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
