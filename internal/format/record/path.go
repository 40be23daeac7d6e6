package record

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
)

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
