package workflow

import (
	"errors"
	"fmt"
	"strings"
)

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
