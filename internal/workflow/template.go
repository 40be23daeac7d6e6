package workflow

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of a template.
const (
	maxTemplate     = 4000
	maxPlaceholders = 40
)

// template is text with expressions in braces: "{session} already complete".
// "{{" and "}}" stand for the braces themselves.
type template struct {
	parts []part
}

// part is a text or, when code is set, an expression.
type part struct {
	text string
	code *program
}

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

func (d *Definition) parseTemplate(s scope, source string) (*template, error) {
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("%d characters are more than %d in a template", len(source), maxTemplate)
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

// fill renders a template. A part that cannot be evaluated, as when the state
// lacks what it names, is left out: a message is never a reason to fail.
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
