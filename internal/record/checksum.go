package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// ChecksumError says that a record is not what its checksum was made of.
type ChecksumError struct {
	Recorded, Computed string
}

func (e *ChecksumError) Error() string {
	if e.Recorded == "" {
		return "the record has no checksum"
	}
	return fmt.Sprintf("the record says checksum %s, and its content gives %s", e.Recorded, e.Computed)
}

// Checksum is "sha256:" and the SHA-256 of the RFC 8785 form of a record without
// its member checksum. It works on the text, so that members of a later version
// count. Equal numbers count as one, however they are spelled (1.0 is 1, -0 is
// 0); a number that a double would not give back (2^53+1, 1e400) counts as a
// string of the digits that stand there, and so as that very string.
func Checksum(raw []byte) (string, error) {
	if err := check(raw, Limits{Size: math.MaxInt64, Depth: MaxDepth}); err != nil {
		return "", fmt.Errorf("computing checksum: %w", err)
	}
	return sum(raw)
}

// sum is Checksum of a text that passed check.
func sum(raw []byte) (string, error) {
	form, err := canonical{number: checksumNumber, drop: "checksum"}.form(raw)
	if err != nil {
		return "", fmt.Errorf("computing checksum: %w", err)
	}
	digest := sha256.Sum256(form)
	return "sha256:" + hex.EncodeToString(digest[:]), nil
}

// Verify computes the checksum of raw, the text that r was parsed from, and
// compares it with the one that r says. The error is a *ChecksumError when they
// differ.
func Verify(r *Record, raw []byte) error {
	computed, err := Checksum(raw)
	return compare(r, computed, err)
}

func compare(r *Record, computed string, err error) error {
	if err != nil {
		return err
	}
	if r.Checksum != computed {
		return &ChecksumError{Recorded: r.Checksum, Computed: computed}
	}
	return nil
}

// checksumNumber spells a number as RFC 8785 does where a double gives its value back, and
// makes it a string of its digits elsewhere.
func checksumNumber(literal string) (jsontext.Value, error) {
	if !fitsDouble(literal) {
		return jsontext.AppendQuote(nil, literal)
	}
	number := jsontext.Value(literal)
	err := number.Canonicalize()
	return number, err
}
