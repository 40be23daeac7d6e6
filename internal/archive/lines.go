package archive

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A file of JSON lines has a type in each line. Those of type "bundle" hold, one after
// the other, the bundle in base64; the others are for pipelines.
const (
	bundleType = "bundle"
	lineBytes  = 48 << 10
	maxJSON    = 64 << 20
)

// WriteBundleLines writes a bundle as lines.
func WriteBundleLines(w io.Writer, r io.Reader) error {
	part := make([]byte, lineBytes)
	for {
		n, err := io.ReadFull(r, part)
		if n > 0 {
			if _, err := fmt.Fprintf(w, `{"type":%q,"data":%q}`+"\n", bundleType, base64.StdEncoding.EncodeToString(part[:n])); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// IsLines reports whether a file that begins so is one of JSON lines.
func IsLines(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(`{"type":"`)) }

// ReadLines copies the bundle of a file of JSON lines to w. A line that is no JSON
// object with a type refuses the file.
func ReadLines(r *bufio.Reader, w io.Writer) error {
	found := false
	for number := 1; ; number++ {
		line, err := readJSONLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
			var l struct {
				Type string `json:"type"`
				Data []byte `json:"data"`
			}
			if jsonErr := json.Unmarshal(line, &l); jsonErr != nil || l.Type == "" {
				return fmt.Errorf("line %d is no JSON object with a type", number)
			}
			if l.Type == bundleType {
				found = true
				if _, err := w.Write(l.Data); err != nil {
					return err
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF) && found:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the lines hold no bundle")
		case err != nil:
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

func readJSONLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxJSON {
			return nil, fmt.Errorf("it has more than %d bytes", maxJSON)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
