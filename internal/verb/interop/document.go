package interop

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Document returns a document as JSON. A YAML document, as crunch writes them, is converted in the
// same way as on import; JSON is returned as it is, without a byte order mark. file is the name of
// the file, or "".
//
// The name decides if it ends in .yaml or .yml. Otherwise text counts as YAML only if it cannot be
// JSON and is a mapping, so that a mistake in a JSON document gets an error message about JSON.
func Document(text []byte, file string) ([]byte, error) {
	text = unmarked(text)
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
