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

// BundleInLines copies the bundle of a file of JSON lines to w.
func BundleInLines(r *bufio.Reader, w io.Writer) error {
	found := false
	err := ReadLines(r, func(kind string, line []byte) error {
		if kind != bundleType {
			return nil
		}
		found = true
		var l struct {
			Data []byte `json:"data"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		_, err := w.Write(l.Data)
		return err
	})
	if err == nil && !found {
		err = errors.New("the lines hold no bundle")
	}
	return err
}

// ReadLines visits each line of a file of JSON lines. A line that is no JSON object with
// a type refuses the file.
func ReadLines(r *bufio.Reader, visit func(kind string, line []byte) error) error {
	for number := 1; ; number++ {
		line, err := readJSONLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
			var l struct {
				Type string `json:"type"`
			}
			if jsonErr := json.Unmarshal(line, &l); jsonErr != nil || l.Type == "" {
				return fmt.Errorf("line %d is no JSON object with a type", number)
			}
			if err := visit(l.Type, line); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
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
