package interop

import (
	"fmt"
	"strconv"
	"strings"
)

// ids has the documents that were read, by id, to detect conflicting documents with one id.
type ids map[string]*source

// claim records the id of a document. It returns an error if the id belongs to another document with
// different content. A second document with the same content is accepted, however it is formatted;
// so is a document without an id.
func (s ids) claim(id string, src *source) error {
	if other := s[id]; other != nil && id != "" && !sameJSON(other.json, src.json) {
		return fmt.Errorf("%s has the same id %q, with other contents", other.path, id)
	} else if other == nil {
		s[id] = src
	}
	return nil
}

// unused returns an id that is not in used, with a number after the separator if necessary, and
// adds it there.
func unused(id, separator string, used map[string]bool) string {
	for n, plain := 2, id; used[id]; n++ {
		id = plain + separator + strconv.Itoa(n)
	}
	used[id] = true
	return id
}

// isPlainID reports whether an id is safe to keep and to show: it cannot be a path to another
// directory and has no control or replacement characters. Unlike safeName it allows spaces and
// other scripts.
func isPlainID(id string) bool {
	return len(id) <= 200 && !strings.ContainsAny(id, "/\\\x00") && !strings.Contains(id, "..") && !strings.HasPrefix(id, ".") &&
		strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd }) < 0
}
