package record

// Paths in git are arbitrary bytes, and JSON has only Unicode strings. A path that is valid UTF-8
// is a plain JSON string. Any other is percent-encoded and marked by a member "encoding", either in
// an object that stands for the path or in the object that has the path among its members.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"sync"
	"unicode/utf8"
)

// pathValue is a path that stands alone, as an element of a list or the value of a member: a
// string, or an object with path and encoding if it is not UTF-8.
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
	// Unknown members of this object are dropped: docs/format.md says that no version adds any, so
	// a Path needs no place to keep them.
	var unknown map[string]json.RawMessage
	members := []member{{"path", plainPath{p.at}}, {"encoding", encoding{p.at}}}
	if err := (object{members: members, extra: &unknown}).parse(raw); err != nil {
		return err
	}
	if *p.at == "" {
		return errors.New("a path that is an object needs the member path")
	}
	return nil
}

// plainPath and encoding are the two members of a path in an object that has other members as well.
// Both are bound to the same variable. In the table, encoding must come after plainPath: parse of
// the one stores the text, and parse of the other decodes it.
type plainPath struct{ at *Path }

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

// modePattern matches permission bits in octal, such as 0644 or 01777.
var modePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^0[0-7]{3,4}$`) })

// modes is an object that maps paths to permission bits. A member's name has no room for an
// encoding mark, so a record has two such members: one for paths that are UTF-8, one for
// percent-encoded paths. Both are bound to the same map.
type modes struct {
	at      *map[Path]string
	percent bool // the member for percent-encoded paths
}

func (m modes) omitted() bool {
	for p := range *m.at {
		if m.holds(p) {
			return false
		}
	}
	return true
}

// holds reports whether p belongs into this one of the two members.
func (m modes) holds(p Path) bool { return utf8.ValidString(string(p)) != m.percent }

func (m modes) appendTo(dst []byte) ([]byte, error) {
	texts := make(map[string]string, len(*m.at))
	for p, mode := range *m.at {
		if m.holds(p) {
			text, _ := EncodePath(p)
			texts[text] = mode
		}
	}
	return dict[string]{at: &texts, bind: modeText}.appendTo(dst)
}

func (m modes) parse(raw []byte) error {
	var texts map[string]string
	if err := (dict[string]{at: &texts, bind: modeText}).parse(raw); err != nil {
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
	// The other of the two members may have filled the map before.
	if *m.at == nil {
		*m.at = given
	} else {
		maps.Copy(*m.at, given)
	}
	return nil
}

// modeText returns the codec of one entry's permission bits.
func modeText(at *string) codec {
	return word[string]{at: at, accept: func(s string) (string, error) {
		if !modePattern().MatchString(s) {
			return "", fmt.Errorf("not an octal mode: %q", clip(s, 20))
		}
		return s, nil
	}}
}
