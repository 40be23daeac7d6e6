package workflow

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"git-checkpoint/internal/sys/gather"
)

// maxViolations limits how many violations are reported.
const maxViolations = 100

// violations validates value, whose text has size bytes. The library decides whether it is valid,
// but stops at the first error and does not tell where it is. So for an invalid value, explainer
// walks schema and value a second time and reports each error with its path.
func (s *stateSchema) violations(value any, size int) []Violation {
	bytes := int64(size)
	if bytes*int64(max(s.nodes, s.patterns)) > maxSchemaWork || bytes*int64(s.alternatives) > maxAlternatives {
		return []Violation{{Rule: ruleSchema, Message: fmt.Sprintf("%d bytes are too many to check against the schema in bounded time", size)}}
	}
	err := s.resolved.Validate(value)
	if err == nil {
		return nil
	}
	e := explainer{own: map[*jsonschema.Schema]*jsonschema.Resolved{}, patterns: map[string]*regexp.Regexp{}}
	e.explain(s.root, value, "")
	if len(e.found) == 0 {
		e.report("", value, describe(s.root), innermost(err))
	}
	return e.found
}

// explainer collects the violations of a value that is known to be invalid. A schema of items or
// members applies to many values, so what is compiled from it is kept: own by schema, patterns by
// text.
type explainer struct {
	found    []Violation
	own      map[*jsonschema.Schema]*jsonschema.Resolved
	patterns map[string]*regexp.Regexp
}

// isFull reports whether there are as many violations as are reported.
func (e *explainer) isFull() bool { return len(e.found) >= maxViolations }

// report adds a violation by the value at path.
func (e *explainer) report(path string, value any, allowed, message string) {
	if !e.isFull() {
		e.found = append(e.found, Violation{ruleSchema, path, shorten(string(encode(value)), maxValue), allowed, message})
	}
}

// explain reports the violations of s by value. It descends through allOf, members and items
// itself, because it knows their paths, and asks the library about everything else that s says of
// the value.
func (e *explainer) explain(s *jsonschema.Schema, value any, path string) {
	if e.isFull() {
		return
	}
	if err := e.validate(s, value); err != nil {
		e.report(path, value, describe(s), innermost(err))
	}
	for _, part := range s.AllOf {
		e.explain(part, value, path)
	}
	switch value := value.(type) {
	case map[string]any:
		e.object(s, value, path)
	case []any:
		for i, item := range value {
			switch {
			case i < len(s.PrefixItems):
				e.explain(s.PrefixItems[i], item, itemPath(path, i))
			case s.Items != nil:
				e.explain(s.Items, item, itemPath(path, i))
			}
		}
	}
}

// object reports missing members and descends into the others.
func (e *explainer) object(s *jsonschema.Schema, object map[string]any, path string) {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok && !e.isFull() {
			e.found = append(e.found, Violation{Rule: ruleSchema, Path: join(path, name), Allowed: describe(s.Properties[name]), Message: "is missing"})
		}
	}
	for _, name := range sortedKeys(object) {
		if e.isFull() {
			return
		}
		value, known := object[name], false
		if property := s.Properties[name]; property != nil {
			known = true
			e.explain(property, value, join(path, name))
		}
		for _, pattern := range sortedKeys(s.PatternProperties) {
			if e.pattern(pattern).MatchString(name) {
				known = true
				e.explain(s.PatternProperties[pattern], value, join(path, name))
			}
		}
		if !known && s.AdditionalProperties != nil {
			e.extra(s, value, join(path, name))
		}
	}
}

// extra handles a member that only additionalProperties applies to. If that is false, the member is
// reported with the list of known ones.
func (e *explainer) extra(s *jsonschema.Schema, value any, path string) {
	if !reflect.DeepEqual(s.AdditionalProperties, nothing()) {
		e.explain(s.AdditionalProperties, value, path)
		return
	}
	e.report(path, value, strings.Join(sortedKeys(s.Properties), ", "), "is not a known member")
}

// validate validates value against the part of s that explain does not handle itself.
func (e *explainer) validate(s *jsonschema.Schema, value any) error {
	resolved := e.own[s]
	if resolved == nil {
		local := *s
		local.Properties, local.PatternProperties, local.AdditionalProperties = nil, nil, nil
		local.Items, local.PrefixItems, local.AllOf, local.Required = nil, nil, nil, nil
		var err error
		if resolved, err = local.Resolve(nil); err != nil {
			return err
		}
		e.own[s] = resolved
	}
	return resolved.Validate(value)
}

// pattern returns the compiled form of a pattern, which buildSchema has checked.
func (e *explainer) pattern(text string) *regexp.Regexp {
	if e.patterns[text] == nil {
		e.patterns[text] = regexp.MustCompile(text)
	}
	return e.patterns[text]
}

// innermost returns a short text for the library's error, without the chain of schemas that wraps
// it. The library's innermost errors start with the keyword that failed.
func innermost(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	keyword, _, _ := strings.Cut(err.Error(), ": ")
	switch keyword {
	case "type":
		return "has the wrong type"
	case "enum", "const":
		return "is not one of the values allowed"
	case "pattern":
		return "does not match the pattern"
	case "minimum", "exclusiveMinimum":
		return "is too small"
	case "maximum", "exclusiveMaximum":
		return "is too large"
	case "minLength", "minItems", "minProperties":
		return "is too short"
	case "maxLength", "maxItems", "maxProperties":
		return "is too long"
	}
	return shorten(err.Error(), maxValue)
}

// describe returns what a schema allows, in words, "" if there is nothing to say.
func describe(s *jsonschema.Schema) string {
	if s == nil {
		return ""
	}
	var says []string
	types := slices.Clone(s.Types)
	if s.Type != "" {
		types = append(types, s.Type)
	}
	if len(types) > 0 {
		says = append(says, strings.Join(types, " or "))
	}
	if s.Const != nil {
		says = append(says, string(encode(*s.Const)))
	}
	if s.Enum != nil {
		says = append(says, "one of "+joined(s.Enum, ", "))
	}
	if s.Pattern != "" {
		says = append(says, "matching "+s.Pattern)
	}
	says = append(says, limits(s)...)
	for _, part := range s.AllOf {
		if said := describe(part); said != "" {
			says = append(says, said)
		}
	}
	return shorten(strings.Join(says, ", "), maxValue)
}

// limits describes the numeric keywords of a schema.
func limits(s *jsonschema.Schema) (says []string) {
	count := func(words string, n *int) {
		if n != nil {
			says = append(says, words+" "+strconv.Itoa(*n))
		}
	}
	limit := func(words string, n *float64) {
		if n != nil {
			says = append(says, words+" "+digitsOf(*n))
		}
	}
	limit("at least", s.Minimum)
	limit("at most", s.Maximum)
	limit("more than", s.ExclusiveMinimum)
	limit("less than", s.ExclusiveMaximum)
	limit("a multiple of", s.MultipleOf)
	count("length at least", s.MinLength)
	count("length at most", s.MaxLength)
	count("items at least", s.MinItems)
	count("items at most", s.MaxItems)
	count("members at least", s.MinProperties)
	count("members at most", s.MaxProperties)
	if s.UniqueItems {
		says = append(says, "no item twice")
	}
	return says
}

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
