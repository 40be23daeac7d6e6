package record

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns data, which must have passed check, in a variant of the RFC 8785 form: sorted
// members, no white space, the shortest spelling of each string. The RFC converts each number to a
// double, which would make 2^53+1 equal to 2^53. So number returns the form of a number, and jsontext
// does the rest.
func canonical(data []byte, number func(literal string) (jsontext.Value, error)) ([]byte, error) {
	text := make(jsontext.Value, 0, len(data))
	copied := 0
	tokens := jsontext.NewDecoder(bytes.NewBuffer(data), lenient()...)
	for {
		token, err := tokens.ReadToken()
		if err == io.EOF { //nolint:errorlint // jsontext does not wrap it
			break
		}
		if err == nil && token.Kind() == '0' {
			literal, end := token.String(), int(tokens.InputOffset())
			var form jsontext.Value
			form, err = number(literal)
			text = append(append(text, data[copied:end-len(literal)]...), form...)
			copied = end
		}
		if err != nil {
			return nil, fmt.Errorf("writing the canonical form: %w", err)
		}
	}
	text = append(text, data[copied:]...)
	err := text.Format(append(lenient(), jsontext.ReorderRawObjects(true))...)
	return text, err
}
