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

// Each line of a JSON lines file is an object with a "type". The lines of type "bundle",
// put together, are the bundle in base64, lineBytes of it per line. Lines of other types
// are for people and pipelines. maxJSON bounds a line that is read.
const (
	bundleType = "bundle"
	lineBytes  = 48 << 10
	maxJSON    = 64 << 20
)

// WriteBundleLines writes the bundle that r reads as JSON lines.
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

// IsLines reports whether a file that starts with these bytes is a JSON lines file of an
// export.
func IsLines(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(`{"type":"`)) }

// BundleInLines copies the bundle inside a JSON lines file to w. It fails if there is none, and if a
// line is not a JSON object with a type.
func BundleInLines(r *bufio.Reader, w io.Writer) error {
	found := false
	for number := 1; ; number++ {
		line, end := readLine(r, maxJSON)
		if end != nil && !errors.Is(end, io.EOF) {
			return fmt.Errorf("line %d: %w", number, end)
		}
		var l struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := json.Unmarshal(line, &l); err != nil || l.Type == "" {
				return fmt.Errorf("line %d is not a JSON object with a type", number)
			}
		}
		if l.Type == bundleType {
			found = true
			var part []byte
			err := json.Unmarshal(l.Data, &part)
			if err == nil {
				_, err = w.Write(part)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
		switch {
		case end == nil:
		case found:
			return nil
		default:
			return errors.New("the lines do not contain a bundle")
		}
	}
}

// readLine reads a line of at most most bytes, with its newline, and nothing after it. The error
// io.EOF comes with the last line if that has no newline.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > most {
			return nil, fmt.Errorf("a line of more than %d bytes", most)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
