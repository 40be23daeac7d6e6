package guard

import (
	"reflect"
	"slices"
	"testing"
)

// Whatever of a rule decides what is found, or what is kept of it, makes another version.
func TestVersion(t *testing.T) {
	// What people read makes no difference to a verdict, and Version cannot see the code of a check.
	passed := []string{"What", "Source", "Check"}
	was := versionOf([]Rule{{}})
	for i := range reflect.TypeFor[Rule]().NumField() {
		field := reflect.TypeFor[Rule]().Field(i)
		if slices.Contains(passed, field.Name) {
			continue
		}
		var other Rule
		switch set := reflect.ValueOf(&other).Elem().Field(i); set.Kind() {
		case reflect.String:
			set.SetString("other")
		case reflect.Int:
			set.SetInt(1)
		case reflect.Bool:
			set.SetBool(true)
		case reflect.Slice:
			set.Set(reflect.ValueOf([]string{"other"}))
		default:
			t.Fatalf("%s is a %s, which this test does not know", field.Name, set.Kind())
		}
		if versionOf([]Rule{other}) == was {
			t.Errorf("another %s is the same version", field.Name)
		}
	}
}
