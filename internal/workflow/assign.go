package workflow

import (
	"reflect"
	"strings"
)

// assign puts a decoded value into the variable that is to hold it, and names an
// unknown member or one of the wrong kind by its path. encoding/json would take
// "Rules" for "rules", stop at the first fault, and spend more on looking at our
// types at every start than the whole default definition may cost.
func assign(value any, into reflect.Value, path string, found *problems) {
	switch into.Kind() {
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
			assign(item, into.Index(i), at(path, i), found)
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

func objectIn(value any, path string, found *problems) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		found.add(path, "%s where an object is expected", kind(value))
	}
	return object, ok
}

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
			found.add(join(path, name), "unknown member; known are %s", strings.Join(sortedKeys(known), ", "))
		}
	}
}

// memberName is what a field is called in JSON, "" for what is not part of it.
func memberName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func expected(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	default:
		return k.String()
	}
}
