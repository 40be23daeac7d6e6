package checkpoint

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// An attempt is a session that was forked from a checkpoint of another one. Its start event has
// these extra trailers, which say from where.
const (
	TrailerForkSession    = "Fork-Session"
	TrailerForkCheckpoint = "Fork-Checkpoint"
	TrailerForkName       = "Fork-Name"
)

// Origin says where an attempt was forked from.
type Origin struct {
	Name       string       // the name of the attempt
	Session    name.Session // the session that it was forked from
	Checkpoint name.ID      // the checkpoint of that session, which the attempt's first one copies
}

// OriginOf returns the origin of a session. The result is false when the session is not an attempt.
func OriginOf(st *journal.State) (Origin, bool) {
	if st.Started == nil {
		return Origin{}, false
	}
	o := Origin{
		Name:       st.Started.Trailer(TrailerForkName),
		Session:    name.Session(st.Started.Trailer(TrailerForkSession)),
		Checkpoint: name.ID(st.Started.Trailer(TrailerForkCheckpoint)),
	}
	return o, o.Session != "" && o.Checkpoint != ""
}

// continued returns the session of the conversation that an agent's session goes on from; nil if there is
// none. Its numbers go on from those there.
func continued(ctx context.Context, s *store.Store, st *journal.State) *Found {
	from, forked := OriginOf(st)
	if !forked || from.Name != "" || st.Workflow != workflow.AgentName {
		return nil
	}
	before, err := State(ctx, s, from.Session)
	if err != nil {
		return nil
	}
	return &Found{Session: from.Session, State: before}
}

// Extra trailers of create events that took a document of another system: what that system calls
// the checkpoint (its own id) and the session.
const (
	TrailerDocument = "Document-Id"
	TrailerOwner    = "Document-Session"
)

// Extra trailers of events that `import` writes. A later import of the same layout reads them to
// see what it already has.
const (
	TrailerFormat  = "Import-Format"  // the layout, such as go-team
	TrailerKey     = "Import-Key"     // the checkpoint's id in its own system
	TrailerDigest  = "Import-Digest"  // checksum of the document: equal means unchanged
	TrailerDerived = "Import-Derived" // "true" in a rollback that only makes the layout's current checkpoint current
)

// ImportedMember is the member of a record that says where an imported checkpoint comes from.
const ImportedMember record.Member[ImportedFrom] = "imported"

// ImportedFrom is its value, see docs/format.md.
type ImportedFrom struct {
	Format string              `json:"format"`
	Key    string              `json:"key"`
	Path   string              `json:"path"`
	Digest string              `json:"digest,omitempty"`
	Files  map[string]name.OID `json:"files"`
}

// importTrailers returns the trailers for an event that names a checkpoint that was imported, joins a line or stands on HEAD, or nil. They
// come from the record, so that they outlive the journal.
func importTrailers(r *record.Record) []journal.Trailer {
	const longestImport = 4096 // the most bytes that the trailers of an imported checkpoint may have together
	if head, joins := record.Joins.Of(r.Extra); joins && head != "" {
		return []journal.Trailer{{Key: journal.TrailerJoins, Value: string(head)}}
	}
	if r.IsOnHead() {
		return []journal.Trailer{{Key: journal.TrailerBase, Value: record.BaseHead}}
	}
	// A member of this name in another form was written by another program. It is not ours.
	from, ours := ImportedMember.Of(r.Extra)
	if !ours || from.Format == "" || from.Key == "" || from.Digest == "" {
		return nil
	}
	if len(from.Format)+len(from.Key)+len(from.Digest) > longestImport {
		return nil // it was fetched: no import writes that much
	}
	return []journal.Trailer{{Key: TrailerFormat, Value: from.Format}, {Key: TrailerKey, Value: from.Key}, {Key: TrailerDigest, Value: from.Digest}}
}

// DocumentTrailer returns a trailer for an id or owner that a document gives, or nil. A text that
// is empty, too long, no UTF-8 or has control characters cannot be typed as a name, so it is not
// kept.
func DocumentTrailer(key, said string) []journal.Trailer {
	const longestOwnID = 200 // the most bytes that another system's id may have
	if said == "" || len(said) > longestOwnID || !utf8.ValidString(said) || strings.ContainsFunc(said, unicode.IsControl) {
		return nil
	}
	return []journal.Trailer{{Key: key, Value: said}}
}

// OwnerOf returns what the documents of a session call it: the Document-Session trailer of the
// newest checkpoint that has one. It returns "" when none has.
func OwnerOf(st *journal.State) string {
	for i, c := range st.Backward() {
		if c.Dead {
			continue
		}
		if owner := st.At(i).Event().Trailer(TrailerOwner); owner != "" {
			return owner
		}
	}
	return ""
}
