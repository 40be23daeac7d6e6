package render

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// JSON writes v as JSON on one line. Called for each item of a list, it writes JSON lines. The
// characters < > & are not escaped. Characters that a terminal would act on are written as \u
// escapes, which have the same meaning. A list that is nil is [], never null, so that scripts need not
// handle both.
func JSON(w io.Writer, v any) error {
	line, err := jsonv2.Marshal(v, jsonv1.DefaultOptionsV1(), jsonv2.FormatNilSliceAsNull(false), jsontext.EscapeForHTML(false))
	if err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	_, err = w.Write(TameJSON(append(line, '\n')))
	return err
}

// TameJSON escapes what a terminal would act on in a valid JSON text. Characters other than ASCII
// occur only in its strings, and those below 0x20 are escaped already. Values that were stored as
// raw JSON may contain any others, even invalid UTF-8.
func TameJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if c := text[i]; c < 0x7f {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case !hostile(r):
			out = append(out, text[i:i+size]...)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		i += size
	}
	return out
}
