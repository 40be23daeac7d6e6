package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

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
