package record

// A path in git is any bytes, and JSON has only Unicode strings. A path that is valid UTF-8 is a JSON
// string. Any other is percent-encoded and marked by a member "encoding", in an object that stands for
// the path or in the one that has the path among its members. So these types are read and written by
// way of others, whose tags say how.

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"git-checkpoint/internal/format/name"
)

// encoding is "percent", or empty for a path that is UTF-8.
type encoding string

func parseEncoding(s string) (encoding, error) {
	if s != "percent" {
		return "", wrongType(`"percent"`, appendText(nil, s))
	}
	return encoding(s), nil
}

// encoded returns the members of a path.
func encoded(p Path) (text string, how encoding) {
	text, percent := EncodePath(p)
	if percent {
		how = "percent"
	}
	return text, how
}

// decoded is the inverse of encoded.
func decoded(text string, how encoding) (Path, error) {
	if how == "" {
		return Path(text), nil
	}
	return DecodePath(text)
}

// pathObject stands for a path that is not UTF-8. Unknown members are dropped: docs/format.md says that
// no version adds any, so a Path needs no place to keep them.
type pathObject struct {
	Text     string   `json:"path"`
	Encoding encoding `json:"encoding"`
}

func readPathObject(d *jsontext.Decoder, p *Path) error {
	if d.PeekKind() != '{' {
		return errors.ErrUnsupported // let the next function read it
	}
	var object pathObject
	err := jsonv2.UnmarshalDecode(d, &object, d.Options())
	if err != nil {
		return err
	}
	if *p, err = decoded(object.Text, object.Encoding); err == nil && *p == "" {
		err = errors.New("a path that is an object needs the member path")
	}
	return err
}

func writePathObject(e *jsontext.Encoder, p Path) error {
	text, how := encoded(p)
	if how == "" {
		return errors.ErrUnsupported
	}
	return jsonv2.MarshalEncode(e, pathObject{text, how}, e.Options())
}

// skipped is a Skipped as it is read and written.
type skipped struct {
	Text     string                     `json:"path"`
	Encoding encoding                   `json:"encoding,omitzero"`
	Reason   string                     `json:"reason"`
	Size     int64                      `json:"size,omitzero"`
	Extra    map[string]json.RawMessage `json:",embed"`
}

// UnmarshalJSONFrom reads the members.
func (s *Skipped) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var twin skipped
	if err := jsonv2.UnmarshalDecode(d, &twin, d.Options()); err != nil {
		return err
	}
	p, err := decoded(twin.Text, twin.Encoding)
	*s = Skipped{p, twin.Reason, twin.Size, twin.Extra}
	return err
}

// MarshalJSONTo writes the members.
func (s Skipped) MarshalJSONTo(e *jsontext.Encoder) error {
	text, how := encoded(s.Path)
	return jsonv2.MarshalEncode(e, &skipped{text, how, s.Reason, s.Size, s.Extra}, e.Options())
}

// atRisk is an AtRisk as it is read and written.
type atRisk struct {
	Text     string                     `json:"path"`
	Encoding encoding                   `json:"encoding,omitzero"`
	Reason   string                     `json:"reason"`
	Extra    map[string]json.RawMessage `json:",embed"`
}

// UnmarshalJSONFrom reads the members.
func (a *AtRisk) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var twin atRisk
	if err := jsonv2.UnmarshalDecode(d, &twin, d.Options()); err != nil {
		return err
	}
	p, err := decoded(twin.Text, twin.Encoding)
	*a = AtRisk{p, twin.Reason, twin.Extra}
	return err
}

// MarshalJSONTo writes the members.
func (a AtRisk) MarshalJSONTo(e *jsontext.Encoder) error {
	text, how := encoded(a.Path)
	return jsonv2.MarshalEncode(e, &atRisk{text, how, a.Reason, a.Extra}, e.Options())
}

// snapshot is a Snapshot as it is read and written. It has two members for the modes, because a member's name has no room for an encoding mark:
// one for paths that are UTF-8, one for percent-encoded paths.
type snapshot struct {
	Tree         name.OID                   `json:"tree"`
	Complete     bool                       `json:"complete"`
	Skipped      []Skipped                  `json:"skipped"`
	Modes        map[string]mode            `json:"modes,omitempty"`
	ModesPercent map[string]mode            `json:"modes_percent,omitempty"`
	Raw          []Path                     `json:"raw,omitempty"`
	AtRisk       []AtRisk                   `json:"at_risk,omitempty"`
	Extra        map[string]json.RawMessage `json:",embed"`
}

// UnmarshalJSONFrom reads the members.
func (s *Snapshot) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var twin snapshot
	if err := jsonv2.UnmarshalDecode(d, &twin, d.Options()); err != nil {
		return err
	}
	*s = Snapshot{twin.Tree, twin.Complete, twin.Skipped, nil, twin.Raw, twin.AtRisk, twin.Extra}
	if len(twin.Modes)+len(twin.ModesPercent) > 0 {
		s.Modes = map[Path]string{}
	}
	for text, mode := range twin.Modes {
		s.Modes[Path(text)] = string(mode)
	}
	for text, mode := range twin.ModesPercent {
		p, err := DecodePath(text)
		if err != nil {
			return err
		}
		s.Modes[p] = string(mode)
	}
	return nil
}

// MarshalJSONTo writes the members.
func (s Snapshot) MarshalJSONTo(e *jsontext.Encoder) error {
	twin := snapshot{s.Tree, s.Complete, s.Skipped, map[string]mode{}, map[string]mode{}, s.Raw, s.AtRisk, s.Extra}
	for p, bits := range s.Modes {
		if text, how := encoded(p); how == "" {
			twin.Modes[text] = mode(bits)
		} else {
			twin.ModesPercent[text] = mode(bits)
		}
	}
	return jsonv2.MarshalEncode(e, &twin, e.Options())
}

// Path is a path or ref name as git has it, which may be any bytes. In JSON it is a string if it is
// valid UTF-8, else an object such as {"path": "a%FFb", "encoding": "percent"}.
type Path string

// EncodePath returns p as text that JSON can hold. If p is valid UTF-8, text is p unchanged.
// Otherwise percent is true, and each byte that is not part of a UTF-8 character is written as %XX,
// and so is "%".
func EncodePath(p Path) (text string, percent bool) {
	if utf8.ValidString(string(p)) {
		return string(p), false
	}
	var b strings.Builder
	for rest := string(p); rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == '%' || r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", rest[0])
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String(), true
}

// DecodePath is the inverse of EncodePath for a percent-encoded text. It accepts only what
// EncodePath writes, so that each path has one spelling.
func DecodePath(text string) (Path, error) {
	decoded, err := url.PathUnescape(text)
	again, percent := EncodePath(Path(decoded))
	switch {
	case err != nil || again != text && strings.EqualFold(again, text): // digits in lower case
		return "", fmt.Errorf("decoding path %q: '%%' without two of 0-9 A-F", clip(text, 100))
	case !percent || again != text:
		return "", fmt.Errorf("decoding path %q: encoded needlessly", clip(text, 100))
	}
	return Path(decoded), nil
}

// MarshalJSON writes the string or the object.
func (p Path) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(p, writing()) }

// UnmarshalJSON reads the string or the object.
func (p *Path) UnmarshalJSON(data []byte) error { return jsonv2.Unmarshal(data, p, reading()) }
