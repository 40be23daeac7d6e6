package checkpoint

import "git-checkpoint/internal/journal"

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
