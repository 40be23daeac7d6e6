package checkpoint

import (
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/journal"
)

// Keys of the trailers by which an event tells what its document calls the checkpoint and
// the session in the system it comes from.
const (
	TrailerDocument = "Document-Id"
	TrailerOwner    = "Document-Session"
)

// Keys of the trailers by which an event tells what it was imported from. Importing
// again goes by them.
const (
	TrailerFormat  = "Import-Format"
	TrailerKey     = "Import-Key"
	TrailerDigest  = "Import-Digest"
	TrailerDerived = "Import-Derived"
)

// Trailer is what an event says under a key that the journal itself does not know.
func Trailer(e *journal.Event, key string) string {
	for _, t := range e.Extra {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// DocumentTrailer is a trailer with what a document says of itself. A text that nobody could
// type is no id and gives none.
func DocumentTrailer(key, said string) []journal.Trailer {
	if said == "" || len(said) > longestOwnID || !utf8.ValidString(said) || strings.ContainsFunc(said, isControl) {
		return nil
	}
	return []journal.Trailer{{Key: key, Value: said}}
}

// longestOwnID is the longest id that a document's system can give.
const longestOwnID = 200

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// OwnerOf is what the documents of a session call it; "" where none tells.
func OwnerOf(st *journal.State) string {
	for i, c := range st.Backward() {
		if c.Dead {
			continue
		}
		if owner := Trailer(st.At(i).Event(), TrailerOwner); owner != "" {
			return owner
		}
	}
	return ""
}
