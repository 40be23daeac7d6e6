package record

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical describes a variant of the RFC 8785 form of a JSON text: sorted members, no white
// space, the shortest spelling of each string. How numbers are written is up to the caller. The RFC
// converts each number to a double, which would make 2^53+1 equal to 2^53.
type canonical struct {
	number func(literal string) (jsontext.Value, error) // returns the form of a number
	drop   string                                       // a member of the outermost object to leave out, or empty
}

// form returns the canonical form of data, which must have passed check. It copies the text token
// by token, to replace numbers and to drop a member, and then lets jsontext sort the members.
func (c canonical) form(data []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(data))
	to := jsontext.NewEncoder(&out, lenient()...)
	from := jsontext.NewDecoder(bytes.NewBuffer(data), lenient()...)
	for {
		token, err := from.ReadToken()
		if err == io.EOF { //nolint:errorlint // jsontext does not wrap it
			break
		}
		if err == nil && token.Kind() == '"' && c.isDropped(from, token) {
			if err = from.SkipValue(); err == nil {
				continue
			}
		}
		if err == nil {
			err = c.write(to, token)
		}
		if err != nil {
			return nil, fmt.Errorf("writing the canonical form: %w", err)
		}
	}
	value := jsontext.Value(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	err := value.Format(append(lenient(), jsontext.ReorderRawObjects(true))...)
	return value, err
}

// write copies a token. Token kind '0' is a number.
func (c canonical) write(to *jsontext.Encoder, token jsontext.Token) error {
	if token.Kind() != '0' {
		return to.WriteToken(token)
	}
	number, err := c.number(token.String())
	if err != nil {
		return err
	}
	return to.WriteValue(number)
}

// isDropped reports whether the token that was just read is the name of the member to leave out.
// The decoder counts names and values of an object together, so after a name the count is odd.
func (c canonical) isDropped(from *jsontext.Decoder, token jsontext.Token) bool {
	if c.drop == "" || from.StackDepth() != 1 {
		return false
	}
	outer, n := from.StackIndex(1)
	return outer == '{' && n%2 == 1 && token.String() == c.drop
}
