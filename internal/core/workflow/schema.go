package workflow

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Limits of a state's schema. Nodes are counted after references are expanded. maxSchemaWork and
// maxAlternatives limit the product of the schema's size and the bytes of a state.
const (
	maxSchemaNodes   = 1000
	maxPatternSteps  = 1000
	maxSchemaWork    = 4_000_000_000
	maxAlternatives  = 100_000_000
	schemaDraft      = "https://json-schema.org/draft/2020-12/schema"
	definitionPrefix = "#/$defs/"
)

// stateSchema is a schema that is ready to validate states, with the numbers that bound the work of
// a validation.
type stateSchema struct {
	// root is the schema with references expanded. resolved is what the library made of it.
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
	// nodes counts sub-schemas, alternatives the branches of anyOf (the library keeps an error text
	// for each that fails), and patterns the steps of all regular expressions together.
	nodes        int
	alternatives int
	patterns     int
}

// stateSchema returns the compiled schema, nil if the definition has none. It is built on first
// use, because most commands validate nothing.
func (d *Definition) stateSchema() (*stateSchema, error) {
	d.schema.Do(func() {
		if d.State.Schema == nil {
			return
		}
		var found problems
		built := buildSchema(d.State.Schema, &found)
		if len(found) > 0 {
			d.schema.err = fmt.Errorf("%s: %s", found[0].Member, found[0].Text)
			return
		}
		d.schema.stateSchema = built
	})
	return d.schema.stateSchema, d.schema.err
}

// buildSchema converts a schema from decoded JSON to the library's type and adds errors to found.
// The library's own reader would accept unknown keywords, recursion and patterns of any cost, and
// is ten times slower.
func buildSchema(value any, found *problems) *stateSchema {
	const path = "state.schema"
	b := schemaBuilder{problems: found, open: map[string]bool{}, schema: &stateSchema{}}
	if object, ok := value.(map[string]any); ok {
		b.definitions, _ = object["$defs"].(map[string]any)
	}
	before := len(*found)
	b.schema.root = b.build(value, path)
	if len(*found) > before {
		return nil
	}
	// Definitions that nothing refers to are built as well, to report errors in them. A builder of
	// its own keeps them out of the counts.
	unused := schemaBuilder{problems: found, open: map[string]bool{}, schema: &stateSchema{}, definitions: b.definitions}
	for _, name := range sortedKeys(b.definitions) {
		unused.reference(&jsonschema.Schema{}, definitionPrefix+name, path+".$defs")
	}
	if len(*found) > before {
		return nil
	}
	resolved, err := b.schema.root.Resolve(nil)
	if b.schema.resolved = resolved; err != nil {
		found.add(path, "%v", shorten(err.Error(), 200))
	}
	return b.schema
}

// schemaBuilder builds one schema and counts its parts.
type schemaBuilder struct {
	problems    *problems
	definitions map[string]any
	open        map[string]bool // definitions being expanded, to find recursion
	schema      *stateSchema
}

// build converts one sub-schema. Like all methods of schemaBuilder it reports errors to problems
// and returns something usable, so that all errors of a schema are found in one pass.
func (b *schemaBuilder) build(value any, path string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	if b.schema.nodes++; b.schema.nodes > maxSchemaNodes {
		if b.schema.nodes == maxSchemaNodes+1 {
			b.problems.add(path, "the schema has more than %d parts, with references expanded", maxSchemaNodes)
		}
		return s
	}
	switch value := value.(type) {
	case bool:
		if !value {
			return nothing()
		}
	case map[string]any:
		for _, keyword := range sortedKeys(value) {
			b.keyword(s, keyword, value[keyword], join(path, keyword))
		}
	default:
		b.problems.add(path, "%s is not a schema", kind(value))
	}
	return s
}

// nothing returns the schema "false", which no value meets.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// keyword sets the field of s that belongs to one keyword. A keyword that is not in one of the
// tables below is unknown.
func (b *schemaBuilder) keyword(s *jsonschema.Schema, word string, value any, path string) {
	switch word {
	case "title", "description", "$comment", "format", "default", "examples":
	case "$schema":
		if value != schemaDraft {
			b.problems.add(path, "only %q is supported", schemaDraft)
		}
	case "$defs":
		if _, ok := value.(map[string]any); !ok || path != "state.schema.$defs" {
			b.problems.add(path, "$defs is an object at the root of the schema")
		}
	case "$ref":
		b.reference(s, value, path)
	case "type":
		b.types(s, value, path)
	case "enum":
		items, ok := value.([]any)
		if !ok || len(items) == 0 {
			b.problems.add(path, "a list that is not empty is expected")
		}
		s.Enum = items
	case "const":
		s.Const = &value
	case "dependentRequired":
		lists, ok := value.(map[string]any)
		if !ok {
			b.problems.add(path, "%s is not an object", kind(value))
		}
		s.DependentRequired = map[string][]string{}
		for name, list := range lists {
			s.DependentRequired[name] = b.texts(list, join(path, name))
		}
	default:
		b.field(fields(s)[word], value, path)
	}
	b.weigh(s, word, path)
}

// fields returns the fields of a schema whose keywords need nothing but a value of the right type.
func fields(s *jsonschema.Schema) map[string]any {
	return map[string]any{
		"allOf": &s.AllOf, "anyOf": &s.AnyOf, "oneOf": &s.OneOf, "prefixItems": &s.PrefixItems,
		"not": &s.Not, "if": &s.If, "then": &s.Then, "else": &s.Else, "items": &s.Items, "contains": &s.Contains,
		"additionalProperties": &s.AdditionalProperties, "propertyNames": &s.PropertyNames,
		"properties": &s.Properties, "patternProperties": &s.PatternProperties, "dependentSchemas": &s.DependentSchemas,
		"minProperties": &s.MinProperties, "maxProperties": &s.MaxProperties, "minLength": &s.MinLength, "maxLength": &s.MaxLength,
		"minItems": &s.MinItems, "maxItems": &s.MaxItems, "minContains": &s.MinContains, "maxContains": &s.MaxContains,
		"minimum": &s.Minimum, "maximum": &s.Maximum, "exclusiveMinimum": &s.ExclusiveMinimum, "exclusiveMaximum": &s.ExclusiveMaximum,
		"multipleOf": &s.MultipleOf, "required": &s.Required, "pattern": &s.Pattern, "uniqueItems": &s.UniqueItems,
	}
}

// field reads a value as the type of the field that it is for. The field nil means that no field
// has the keyword.
func (b *schemaBuilder) field(field, value any, path string) {
	var ok bool
	switch to := field.(type) {
	case **jsonschema.Schema:
		*to = b.build(value, path)
	case *[]*jsonschema.Schema:
		*to = append(*to, b.schemas(value, path)...)
	case *map[string]*jsonschema.Schema:
		*to = b.named(value, path)
	case *[]string:
		*to = b.texts(value, path)
	case **int:
		*to = b.count(value, path)
	case **float64:
		*to = b.limit(value, path)
	case *string:
		if *to, ok = value.(string); !ok {
			b.problems.add(path, "%s is not text", kind(value))
		}
	case *bool:
		if *to, ok = value.(bool); !ok {
			b.problems.add(path, "%s is not true or false", kind(value))
		}
	default:
		b.problems.add(path, "unknown keyword")
	}
}

// weigh adds what a keyword costs in a validation, once its field is set.
func (b *schemaBuilder) weigh(s *jsonschema.Schema, word, path string) {
	switch word {
	case "anyOf":
		b.schema.alternatives += len(s.AnyOf)
	case "pattern":
		b.pattern(s.Pattern, path)
	case "patternProperties":
		for pattern := range s.PatternProperties {
			b.pattern(pattern, path)
		}
	case "multipleOf":
		if *s.MultipleOf <= 0 {
			b.problems.add(path, "must be greater than 0")
		}
	}
}

// reference expands a $ref in place: the definition becomes a branch of allOf. Recursive references
// are refused, because they could not be expanded and would leave the work of a validation
// unbounded.
func (b *schemaBuilder) reference(s *jsonschema.Schema, value any, path string) {
	target, _ := value.(string)
	name, ok := strings.CutPrefix(target, definitionPrefix)
	definition, known := b.definitions[name]
	switch {
	case !ok || !known:
		b.problems.add(path, "%q is not one of the schema's $defs", target)
	case b.open[name]:
		b.problems.add(path, "%q refers to itself", target)
	default:
		b.open[name] = true
		s.AllOf = append(s.AllOf, b.build(definition, join("state.schema.$defs", name)))
		delete(b.open, name)
	}
}

// types handles "type", which is one name or a list of names.
func (b *schemaBuilder) types(s *jsonschema.Schema, value any, path string) {
	known := []string{"null", "boolean", "object", "array", "number", "string", "integer"}
	if name, ok := value.(string); ok {
		s.Type = name
	} else {
		s.Types = b.texts(value, path)
	}
	for _, name := range append(slices.Clone(s.Types), s.Type) {
		if name != "" && !slices.Contains(known, name) {
			b.problems.add(path, "%q is not a type; known types: %s", shorten(name, 40), strings.Join(known, ", "))
		}
	}
}

// pattern adds the cost of a regular expression to the schema's.
func (b *schemaBuilder) pattern(text, path string) {
	steps, err := patternSteps(text)
	if err != nil {
		b.problems.add(path, "%v", err)
	}
	b.schema.patterns += steps
}

// patternSteps returns the number of instructions of a compiled regular expression, and an error if
// there are more than maxPatternSteps. Go matches in time linear in the text, but each character
// can cost one step per instruction: "((x{1000}))" has a thousand of them.
func patternSteps(text string) (int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("pattern %q: %w", shorten(text, 80), err)
	}
	code, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, fmt.Errorf("pattern %q: %w", shorten(text, 80), err)
	}
	if steps := len(code.Inst); steps > maxPatternSteps {
		return steps, fmt.Errorf("pattern %q takes %d steps for a character, more than %d", shorten(text, 80), steps, maxPatternSteps)
	}
	return len(code.Inst), nil
}
