package workflow

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// Knows reports whether a document was written for this workflow, which it is if it has all members
// of one of the lists in session.known_by. A document without them may still be a valid state, but
// it does not reveal its workflow.
func (d *Definition) Knows(document json.RawMessage) bool {
	root := gjson.ParseBytes(document)
	return root.IsObject() && slices.ContainsFunc(d.Session.KnownBy, func(members []string) bool {
		return len(members) > 0 && !slices.ContainsFunc(members, func(m string) bool { return !root.Get(m).Exists() })
	})
}

// KnowsDocuments reports whether the workflow can recognize its own documents at all.
func (d *Definition) KnowsDocuments() bool { return len(d.Session.KnownBy) > 0 }

// NamesDocument reports whether a session with this name is reserved for one document, as issue-42
// is for issue 42.
func (d *Definition) NamesDocument(session string) bool {
	if d.Session.Pattern == "" {
		return false
	}
	named, err := regexp.MatchString(d.Session.Pattern, session)
	return err == nil && named
}

// SessionOf returns the session that a document belongs to, or "" if the document does not name
// one. The result comes from an untrusted document and is not validated as a name.
func (d *Definition) SessionOf(a Accepted) string { return d.told(d.Session.Name, a, time.Time{}) }

// MadeFor returns the name of a session for a document that does not name its own, or "" if the
// workflow makes none.
func (d *Definition) MadeFor(a Accepted, now time.Time) string { return d.told(d.Session.Made, a, now) }

// OtherJob returns the first member of session.job in which two states differ, of those that both have, or "".
func (d *Definition) OtherJob(a, b json.RawMessage) string {
	for _, path := range d.Session.Job {
		x, y := value(rawAt(a, path)), value(rawAt(b, path))
		if x != nil && y != nil && identity(x) != identity(y) {
			return path
		}
	}
	return ""
}

// CheckpointOf returns the name that the document's own system uses for the checkpoint, or "" if
// the document does not name one. The result is not validated.
func (d *Definition) CheckpointOf(a Accepted) string {
	if said := d.told(d.Session.Checkpoint, a, time.Time{}); said != "" {
		return said
	}
	return a.ID
}

// told fills a template from a document. Unlike fill it returns "" if any part is missing, because
// half a name would be the name of something else.
func (d *Definition) told(source string, a Accepted, now time.Time) string {
	if source == "" {
		return ""
	}
	vars := map[string]any{"workflow": d.Name, "session": "", "state": value(a.State), "record": value(a.Record), "now": int(now.Unix())}
	text, whole, err := d.evaluatorOver(sessionScope(), vars, a.State, a.Record).render(source)
	if err != nil || !whole {
		return ""
	}
	return text
}

// value decodes text that was accepted before. It returns nil for empty or invalid text.
func value(raw json.RawMessage) any {
	v, _ := decode(raw, maxDocumentSize) //nolint:errcheck // it gives nil then
	return v
}
