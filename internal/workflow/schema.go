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
			s.Not = &jsonschema.Schema{}
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

// keyword sets the field of s that belongs to one keyword. Keywords are grouped by what they apply
// to, which keeps each of the functions below short.
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
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
		b.logic(s, word, value, path)
	case "properties", "patternProperties", "dependentSchemas", "additionalProperties", "propertyNames",
		"required", "dependentRequired", "minProperties", "maxProperties":
		b.object(s, word, value, path)
	case "items", "prefixItems", "contains", "minItems", "maxItems", "minContains", "maxContains", "uniqueItems":
		b.list(s, word, value, path)
	default:
		b.scalar(s, word, value, path)
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

// logic handles keywords that combine schemas for the same value.
func (b *schemaBuilder) logic(s *jsonschema.Schema, word string, value any, path string) {
	switch word {
	case "allOf":
		s.AllOf = append(s.AllOf, b.schemas(value, path)...)
	case "anyOf":
		s.AnyOf = b.schemas(value, path)
		b.schema.alternatives += len(s.AnyOf)
	case "oneOf":
		s.OneOf = b.schemas(value, path)
	case "not":
		s.Not = b.build(value, path)
	case "if":
		s.If = b.build(value, path)
	case "then":
		s.Then = b.build(value, path)
	case "else":
		s.Else = b.build(value, path)
	}
}

// object handles keywords about objects and their members.
func (b *schemaBuilder) object(s *jsonschema.Schema, word string, value any, path string) {
	switch word {
	case "properties":
		s.Properties = b.named(value, path)
	case "patternProperties":
		s.PatternProperties = b.named(value, path)
		for pattern := range s.PatternProperties {
			b.pattern(pattern, path)
		}
	case "dependentSchemas":
		s.DependentSchemas = b.named(value, path)
	case "additionalProperties":
		s.AdditionalProperties = b.build(value, path)
	case "propertyNames":
		s.PropertyNames = b.build(value, path)
	case "required":
		s.Required = b.texts(value, path)
	case "dependentRequired":
		lists, ok := value.(map[string]any)
		if !ok {
			b.problems.add(path, "%s is not an object", kind(value))
		}
		s.DependentRequired = map[string][]string{}
		for name, list := range lists {
			s.DependentRequired[name] = b.texts(list, join(path, name))
		}
	case "minProperties":
		s.MinProperties = b.count(value, path)
	case "maxProperties":
		s.MaxProperties = b.count(value, path)
	}
}

// list handles keywords about lists and their items.
func (b *schemaBuilder) list(s *jsonschema.Schema, word string, value any, path string) {
	switch word {
	case "items":
		s.Items = b.build(value, path)
	case "prefixItems":
		s.PrefixItems = b.schemas(value, path)
	case "contains":
		s.Contains = b.build(value, path)
	case "minItems":
		s.MinItems = b.count(value, path)
	case "maxItems":
		s.MaxItems = b.count(value, path)
	case "minContains":
		s.MinContains = b.count(value, path)
	case "maxContains":
		s.MaxContains = b.count(value, path)
	case "uniqueItems":
		unique, ok := value.(bool)
		if !ok {
			b.problems.add(path, "%s is not true or false", kind(value))
		}
		s.UniqueItems = unique
	}
}

// scalar handles keywords about a single value, and reports unknown ones.
func (b *schemaBuilder) scalar(s *jsonschema.Schema, word string, value any, path string) {
	switch word {
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
	case "pattern":
		pattern, ok := value.(string)
		if !ok {
			b.problems.add(path, "%s is not text", kind(value))
		}
		s.Pattern = pattern
		b.pattern(pattern, path)
	case "minLength":
		s.MinLength = b.count(value, path)
	case "maxLength":
		s.MaxLength = b.count(value, path)
	case "minimum":
		s.Minimum = b.limit(value, path)
	case "maximum":
		s.Maximum = b.limit(value, path)
	case "exclusiveMinimum":
		s.ExclusiveMinimum = b.limit(value, path)
	case "exclusiveMaximum":
		s.ExclusiveMaximum = b.limit(value, path)
	case "multipleOf":
		if s.MultipleOf = b.limit(value, path); s.MultipleOf != nil && *s.MultipleOf <= 0 {
			b.problems.add(path, "must be greater than 0")
		}
	default:
		b.problems.add(path, "unknown keyword")
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
