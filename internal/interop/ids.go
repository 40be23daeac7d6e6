package interop

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ids are those that were read, with what they stood for.
type ids map[string]struct{ path, digest string }

// take refuses a second document of one id that says something else.
func (s ids) take(r *reading, id string, src *source) bool {
	if id == "" {
		return true
	}
	digest, err := src.digested()
	if err != nil {
		r.problem(src.path, "%v", err)
		return false
	}
	if other, twice := s[id]; twice && other.digest != digest {
		r.problem(src.path, "the id %q is that of %s too, which says something else", id, other.path)
		return false
	} else if !twice {
		s[id] = struct{ path, digest string }{src.path, digest}
	}
	return true
}

// isPlainID refuses an id that could be a way to another place, or that no person could
// read.
func isPlainID(id string) bool {
	return len(id) <= 200 && !strings.ContainsAny(id, "/\\\x00") && !strings.Contains(id, "..") && !strings.HasPrefix(id, ".") &&
		strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd }) < 0
}

// shortened is a value for a message.
func shortened(raw string) string {
	if len(raw) > 40 {
		return raw[:40] + "…"
	}
	return raw
}

// indented is JSON as the layouts have it: two spaces, a newline at the end.
func indented(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	b.WriteByte('\n')
	return b.Bytes()
}
