package workflow

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of a template: bytes, and expressions in it.
const (
	maxTemplate     = 4000
	maxPlaceholders = 40
)

// template is text with expressions in braces, such as "{session} already complete". "{{" and "}}"
// stand for the braces themselves. An expression cannot contain "}", so it cannot have an object
// literal.
type template struct {
	parts []part
}

// part is a piece of text or, if code is set, an expression.
type part struct {
	text string
	code *program
}

// template returns the parsed form of source, from the cache if possible. The lock is released in
// between, because parseTemplate compiles expressions, which takes it as well.
func (d *Definition) template(s scope, source string) (*template, error) {
	key := s.name + "\x00" + source
	d.cache.Lock()
	t, ok := d.cache.templates[key]
	d.cache.Unlock()
	if ok {
		return t, nil
	}
	t, err := d.parseTemplate(s, source)
	if err != nil {
		return nil, err
	}
	d.cache.Lock()
	defer d.cache.Unlock()
	if d.cache.templates == nil {
		d.cache.templates = map[string]*template{}
	}
	d.cache.templates[key] = t
	return t, nil
}

// parseTemplate splits source at its braces and compiles the expressions.
func (d *Definition) parseTemplate(s scope, source string) (*template, error) {
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("a template has %d characters; the limit is %d", len(source), maxTemplate)
	}
	t := &template{}
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
			code, err := d.compile(s, inside, "")
			if err != nil {
				return nil, err
			}
			t.parts = append(t.parts, part{text: plain.String()}, part{code: code})
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
		if len(t.parts) > 2*maxPlaceholders {
			return nil, fmt.Errorf("more than %d expressions in a template", maxPlaceholders)
		}
	}
	t.parts = append(t.parts, part{text: plain.String()})
	return t, nil
}

// fill renders a template. An expression that cannot be evaluated, for example because the state
// lacks a member, becomes nothing, and a source that is not a template is returned as it is: a bad
// message must not make a command fail.
func (d *Definition) fill(m *meter, s scope, source string, vars map[string]any) string {
	if !strings.ContainsAny(source, "{}") {
		return source
	}
	t, err := d.template(s, source)
	if err != nil {
		return source
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.code == nil {
			b.WriteString(p.text)
			continue
		}
		if value, err := m.run(p.code, vars); err == nil {
			b.WriteString(say(value))
		}
	}
	return b.String()
}
