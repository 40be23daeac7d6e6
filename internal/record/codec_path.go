package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"unicode/utf8"
)

// pathValue is a path as an entry of a list or a member of its own: a plain
// string, or an object where it is not UTF-8.
type pathValue struct {
	at    *Path
	empty absence
}

func (p pathValue) omitted() bool { return *p.at == "" && p.empty == asNothing }

func (p pathValue) appendTo(dst []byte) ([]byte, error) {
	if *p.at == "" && p.empty == asNull {
		return append(dst, "null"...), nil
	}
	text, percent := EncodePath(*p.at)
	if !percent {
		return appendText(dst, text), nil
	}
	dst = appendText(append(dst, `{"path":`...), text)
	return append(dst, `,"encoding":"percent"}`...), nil
}

func (p pathValue) parse(raw []byte) error {
	switch {
	case p.empty == asNull && string(raw) == "null":
		*p.at = ""
		return nil
	case raw[0] == '"':
		*p.at = Path(unquote(raw))
		return nil
	case raw[0] != '{':
		return wrongType("a path", raw)
	}
	*p.at = ""
	var unknown map[string]json.RawMessage
	members := []member{{"path", plainPath{p.at}}, {"encoding", encoding{p.at}}}
	if err := (object{members: members, extra: &unknown}).parse(raw); err != nil {
		return err
	}
	if *p.at == "" {
		return errors.New("a path as an object needs the member path")
	}
	return nil
}

// plainPath and encoding are the two members that a path has in an object with
// further ones. In a list of members encoding stands behind plainPath.
type plainPath struct{ at *Path }

func (p plainPath) omitted() bool { return false }

func (p plainPath) appendTo(dst []byte) ([]byte, error) {
	text, _ := EncodePath(*p.at)
	return appendText(dst, text), nil
}

func (p plainPath) parse(raw []byte) error {
	if raw[0] != '"' {
		return wrongType("a path", raw)
	}
	*p.at = Path(unquote(raw))
	return nil
}

type encoding struct{ at *Path }

func (e encoding) omitted() bool { return utf8.ValidString(string(*e.at)) }

func (e encoding) appendTo(dst []byte) ([]byte, error) { return append(dst, `"percent"`...), nil }

func (e encoding) parse(raw []byte) (err error) {
	if string(raw) != `"percent"` {
		return wrongType(`"percent"`, raw)
	}
	*e.at, err = DecodePath(string(*e.at))
	return err
}

var modePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0[0-7]{3,4}$`) })

// modes is an object path → mode. A name cannot have an encoding beside it, so
// the paths that are UTF-8 and those that are not are two members of the record.
type modes struct {
	at      *map[Path]string
	percent bool
}

func (m modes) omitted() bool {
	for p := range *m.at {
		if m.holds(p) {
			return false
		}
	}
	return true
}

func (m modes) holds(p Path) bool { return utf8.ValidString(string(p)) != m.percent }

func (m modes) appendTo(dst []byte) ([]byte, error) {
	texts := make(map[string]string, len(*m.at))
	for p, mode := range *m.at {
		if m.holds(p) {
			text, _ := EncodePath(p)
			texts[text] = mode
		}
	}
	return dict[string]{&texts, modeText}.appendTo(dst)
}

func (m modes) parse(raw []byte) error {
	var texts map[string]string
	if err := (dict[string]{&texts, modeText}).parse(raw); err != nil {
		return err
	}
	given := make(map[Path]string, len(texts))
	for text, mode := range texts {
		p := Path(text)
		if m.percent {
			var err error
			if p, err = DecodePath(text); err != nil {
				return within(text, err)
			}
		}
		given[p] = mode
	}
	if *m.at == nil {
		*m.at = given
	} else {
		maps.Copy(*m.at, given)
	}
	return nil
}

func modeText(at *string) codec {
	return word[string]{at: at, accept: func(s string) (string, error) {
		if !modePattern().MatchString(s) {
			return "", fmt.Errorf("no octal mode: %q", clip(s, 20))
		}
		return s, nil
	}}
}
