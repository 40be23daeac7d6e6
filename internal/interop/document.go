package interop

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Document gives a document as JSON: what is written in YAML, as crunch writes its own, is
// read as an import reads it. A file that is not called so is taken for YAML only where it
// cannot be JSON and has members, so that what is wrong with JSON is said of JSON.
func Document(text []byte, file string) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	named := slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(path.Ext(file)))
	if start := bytes.TrimSpace(text); !named && (len(start) == 0 || bytes.ContainsAny(start[:1], `{["`)) {
		return text, nil
	}
	read, err := yamlToJSON(text)
	if named || err == nil && !json.Valid(text) && bytes.HasPrefix(read, []byte("{")) {
		return read, err
	}
	return text, nil
}
