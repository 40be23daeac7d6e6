package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/types"

	"git-checkpoint/internal/sys/gather"
)

// messageVariables lists the variables that templates of messages may use.
func messageVariables() []string {
	return []string{
		"label", "id", "step", "step_name", "session", "workflow", "topic", "status", "trigger", "branch",
		"files", "commit", "error", "from", "to", "reason", "reverted", "discarded", "left_behind",
		"next_step", "next_name", "last_valid", "key", "state", "message", "metrics", "metric", "paths", "iteration",
	}
}

func messageScope() scope {
	vars := types.Map{}
	for _, name := range messageVariables() {
		vars[name] = types.Any
	}
	return scope{"message", vars}
}

// Verbatim is a text that a message shows whole, with every space in it. Other texts are cut when they are
// long.
type Verbatim string

// Message fills the workflow's template for key, or the default definition's if the workflow has
// none. Values may be texts, numbers, booleans, nil, JSON, and lists of texts or integers. A variable
// without a value becomes the empty text.
func (d *Definition) Message(key string, values map[string]any) string {
	source, ok := d.Messages[key]
	if !ok {
		source = Default().Messages[key]
	}
	vars := make(map[string]any, len(values)+1)
	var whole []string // pairs of a mark and what it stands for
	for _, name := range messageVariables() {
		vars[name] = plain(values[name])
		if text, is := values[name].(Verbatim); is && text != "" {
			mark := "\x00" + name + "\x00"
			vars[name], whole = mark, append(whole, mark, string(text))
		}
	}
	return strings.NewReplacer(whole...).Replace(tidy(d.evaluatorOver(messageScope(), vars).fill(source)))
}

// tidy removes the double spaces that empty variables leave. Indentation is kept.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		start := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = line[:start] + strings.Join(strings.Fields(line[start:]), " ")
	}
	return strings.Join(lines, "\n")
}

// plain converts the lists and numbers of a caller to the types that expressions use.
func plain(v any) any {
	switch v := v.(type) {
	case []string:
		return listOf(v)
	case []int:
		return listOf(v)
	case Verbatim: // an empty one
		return ""
	case json.RawMessage:
		return value(v)
	case *int:
		if v == nil {
			return nil
		}
		return *v
	}
	return v
}

// listOf converts a list to one that expressions can use.
func listOf[T any](from []T) []any { return gather.List(from, func(item T) any { return item }) }

// template is text with expressions in braces, such as "{session} already complete". "{{" and "}}"
// stand for the braces themselves. An expression cannot contain "}", so it cannot have an object
// literal.
type template []part

// part is a piece of text or, if code is set, an expression.
type part struct {
	text string
	code *program
}

// template splits source at its braces and compiles the expressions.
func (c *programs) template(s scope, source string) (template, error) {
	const maxTemplate, maxPlaceholders = 4000, 40 // bytes, and expressions in it
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("a template has %d characters; the limit is %d", len(source), maxTemplate)
	}
	var t template
	var plain strings.Builder
	for rest := source; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			plain.WriteByte(rest[0])
			rest = rest[2:]
		case rest[0] == '}':
			return nil, errors.New("a '}' without '{'; write '}}' for the character")
		case rest[0] == '{':
			inside, after, ok := strings.Cut(rest[1:], "}")
			if !ok {
				return nil, errors.New("a '{' without '}'; write '{{' for the character")
			}
			code, err := c.compile(s, inside, "")
			if err != nil {
				return nil, err
			}
			t = append(t, part{text: plain.String()}, part{code: code})
			plain.Reset()
			rest = after
		default:
			n := strings.IndexAny(rest, "{}")
			if n < 0 {
				n = len(rest)
			}
			plain.WriteString(rest[:n])
			rest = rest[n:]
		}
		if len(t) > 2*maxPlaceholders {
			return nil, fmt.Errorf("more than %d expressions in a template", maxPlaceholders)
		}
	}
	t = append(t, part{text: plain.String()})
	return t, nil
}

// fill renders a template. An expression that cannot be evaluated, for example because the state
// lacks a member, becomes nothing, and a source that is not a template is returned as it is: a bad
// message must not make a command fail.
func (e *evaluator) fill(source string) string {
	text, _, err := e.render(source)
	if err != nil {
		return source
	}
	return text
}

// render returns the text of a template. whole is false if one of its expressions cannot be
// evaluated or gives nothing.
func (e *evaluator) render(source string) (text string, whole bool, err error) {
	t, err := e.template(e.scope, source)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	whole = true
	for _, p := range t {
		b.WriteString(p.text)
		if p.code == nil {
			continue
		}
		value, err := e.run(p.code, e.vars)
		if err != nil || say(value) == "" {
			whole = false
			continue
		}
		b.WriteString(say(value))
	}
	return b.String(), whole, nil
}
