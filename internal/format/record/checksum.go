package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// differs returns nil if the checksum that a record states is the one computed of its content.
func differs(recorded, computed string) error {
	switch recorded {
	case computed:
		return nil
	case "":
		return errors.New("the record has no checksum")
	}
	return fmt.Errorf("the record has checksum %s, but its content has %s", recorded, computed)
}

// Checksum returns "sha256:" and the hexadecimal SHA-256 of the canonical form of a record, without
// the member checksum. It works on the JSON text, so that members of a newer version are included.
//
// Equal numbers are the same, however they are spelled: 1.0 is 1 and -0 is 0. A number that a
// double cannot represent (2^53+1, 1e400) enters the canonical form as a string of its digits as
// they are written.
func Checksum(raw []byte) (string, error) {
	if err := check(raw, Limits{Size: math.MaxInt64, Depth: MaxDepth}); err != nil {
		return "", fmt.Errorf("computing checksum: %w", err)
	}
	return sum(raw)
}

// sum is Checksum for a text that passed check.
func sum(raw []byte) (string, error) {
	var content []item
	for name, value := range members(raw) {
		if name != "checksum" {
			content = append(content, item{name, value})
		}
	}
	form, err := canonical(joined(content, '{'), checksumNumber)
	if err != nil {
		return "", fmt.Errorf("computing checksum: %w", err)
	}
	digest := sha256.Sum256(form)
	return "sha256:" + hex.EncodeToString(digest[:]), nil
}

// checksumNumber writes a number as RFC 8785 does if a double represents it exactly, and otherwise
// as a string of its digits.
func checksumNumber(literal string) (jsontext.Value, error) {
	if isSmallInteger([]byte(literal)) { // nearly all are, and are written so already
		return jsontext.Value(literal), nil
	}
	if !FitsDouble(literal) {
		return jsontext.AppendQuote(nil, literal)
	}
	number := jsontext.Value(literal)
	err := number.Canonicalize()
	return number, err
}

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

// Numbers in a state keep the digits that they were written with. To compare or hash them, decimal is their
// exact value, without going through a float64.

// decimal is the exact value of a JSON number: 0.digits times 10 to the power of exponent, where
// digits has no leading or trailing zeros. So equal values are equal structs. Zero has no digits
// and no sign, which makes -0 equal to 0.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// parseDecimal reads a valid JSON number. ok is false for an exponent of more than 18 digits; such
// a number only equals one with the same spelling.
func parseDecimal(literal string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, power := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, power = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	significant := strings.TrimLeft(digits, "0")
	if significant == "" {
		return decimal{}, true
	}
	exponent, ok := parseExponent(power)
	if !ok {
		return decimal{}, false
	}
	exponent += int64(len(whole)) - int64(len(digits)-len(significant))
	return decimal{negative, strings.TrimRight(significant, "0"), exponent}, true
}

// parseExponent reads the part after "e"; an empty one is 0.
func parseExponent(power string) (int64, bool) {
	sign := ""
	if power != "" && (power[0] == '+' || power[0] == '-') {
		sign, power = power[:1], power[1:]
	}
	power = strings.TrimLeft(power, "0")
	if power == "" {
		return 0, true
	}
	if len(power) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(sign+power, 10, 64)
	return n, err == nil
}

// FitsDouble reports whether a float64 can represent the number, in the sense of RFC 8785: the
// shortest decimal form that gives the same float64 is the same number.
func FitsDouble(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return false
	}
	want, ok := parseDecimal(literal)
	if !ok {
		return false
	}
	got, _ := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	return got == want
}

// isSmallInteger reports whether the literal is an integer of at most 15 digits and not -0. Such a
// number is exact in a double.
func isSmallInteger(literal []byte) bool {
	digits := bytes.TrimPrefix(literal, []byte("-"))
	if len(digits) == 0 || len(digits) > 15 || len(digits) < len(literal) && digits[0] == '0' {
		return false
	}
	return !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

// exactNumber writes equal numbers alike and different numbers differently, including those that a
// double cannot distinguish.
func exactNumber(literal string) (jsontext.Value, error) {
	if d, ok := parseDecimal(literal); ok {
		return d.appendTo(nil), nil
	}
	return jsontext.Value(literal), nil
}

// appendTo appends the one form of each value: an integer if the exponent allows, else an integer
// with a power of ten.
func (d decimal) appendTo(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	power := d.exponent - int64(len(d.digits))
	if power == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, 'e'), power, 10)
}
