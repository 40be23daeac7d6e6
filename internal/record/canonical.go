package record

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical describes the RFC 8785 form of a text: members in order, no white space, the
// shortest spelling of each string. The numbers are ours, because the RFC makes a double
// of each: 2^53+1 and 2^53 would be the same.
type canonical struct {
	number func(literal string) (jsontext.Value, error)
	drop   string // a member of the outermost object to leave out
}

// form takes a text that passed check.
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

// isDropped reports whether the token that was just read is the name of the member to
// leave out: the decoder counts names and values, so a name makes the count odd.
func (c canonical) isDropped(from *jsontext.Decoder, token jsontext.Token) bool {
	if c.drop == "" || from.StackDepth() != 1 {
		return false
	}
	outer, n := from.StackIndex(1)
	return outer == '{' && n%2 == 1 && token.String() == c.drop
}
