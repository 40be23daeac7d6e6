package workflow

import (
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"git-checkpoint/internal/sys/gather"
)

// The methods of this file read the values of keywords: collections of schemas, texts and numbers.
// Each reports a value of the wrong type and goes on with an empty one.

// named reads an object of schemas.
func (b *schemaBuilder) named(value any, path string) map[string]*jsonschema.Schema {
	object, ok := value.(map[string]any)
	if !ok {
		b.problems.add(path, "%s is not an object", kind(value))
	}
	return gather.Map(sortedKeys(object), func(name string) (string, *jsonschema.Schema) { return name, b.build(object[name], join(path, name)) })
}

// schemas reads a list of schemas, which must not be empty.
func (b *schemaBuilder) schemas(value any, path string) []*jsonschema.Schema {
	items, ok := value.([]any)
	if !ok || len(items) == 0 {
		b.problems.add(path, "a list of schemas is expected")
	}
	schemas := make([]*jsonschema.Schema, len(items))
	for i, item := range items {
		schemas[i] = b.build(item, itemPath(path, i))
	}
	return schemas
}

// texts reads a list of texts.
func (b *schemaBuilder) texts(value any, path string) []string {
	items, ok := value.([]any)
	if !ok {
		b.problems.add(path, "%s is not a list of texts", kind(value))
	}
	texts := make([]string, 0, len(items))
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			b.problems.add(itemPath(path, i), "%s is not text", kind(item))
		}
		texts = append(texts, text)
	}
	return texts
}

// count reads a whole number of 0 or more.
func (b *schemaBuilder) count(value any, path string) *int {
	n, ok := value.(int)
	if !ok || n < 0 {
		b.problems.add(path, "a whole number of 0 or more is expected")
	}
	return &n
}

// limit reads any number.
func (b *schemaBuilder) limit(value any, path string) *float64 {
	n, err := number(value)
	if err != nil {
		b.problems.add(path, "%v", err)
	}
	return &n
}

// sortedKeys returns the keys of a map in order. Everything that is reported or evaluated per key
// goes through it, so that results do not depend on the random order of maps.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
