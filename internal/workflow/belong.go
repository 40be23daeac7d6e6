package workflow

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Knows reports whether a document is one of this workflow's own: it has all members of one
// of the lists in session.known_by. A state that lacks them may still be allowed; only
// nobody can tell from it which workflow it is of.
func (d *Definition) Knows(document json.RawMessage) bool {
	root := gjson.ParseBytes(document)
	return root.IsObject() && slices.ContainsFunc(d.Session.KnownBy, func(members []string) bool {
		return len(members) > 0 && !slices.ContainsFunc(members, func(m string) bool { return !root.Get(m).Exists() })
	})
}

// KnowsDocuments reports whether the workflow can tell its own documents from others.
func (d *Definition) KnowsDocuments() bool { return len(d.Session.KnownBy) > 0 }

// NamesDocument reports whether a session with this name is for one document alone, as
// issue-42 is for issue 42.
func (d *Definition) NamesDocument(session string) bool {
	if d.Session.Pattern == "" {
		return false
	}
	named, err := regexp.MatchString(d.Session.Pattern, session)
	return err == nil && named
}

// SessionOf is what the workflow calls the session that a document belongs to; ""
// when the document does not tell. The name is as untrusted as the document.
func (d *Definition) SessionOf(a Accepted) string { return d.told(d.Session.Name, a) }

// CheckpointOf is what the document's own system calls the checkpoint; "" when the
// document does not tell. It is as untrusted as the document.
func (d *Definition) CheckpointOf(a Accepted) string {
	if said := d.told(d.Session.Checkpoint, a); said != "" {
		return said
	}
	return a.ID
}

// told fills a template from a document. One whose parts are missing gives nothing rather
// than half a name.
func (d *Definition) told(source string, a Accepted) string {
	if source == "" {
		return ""
	}
	t, err := d.template(sessionScope(), source)
	if err != nil {
		return ""
	}
	m := newMeter(a.State, a.Record)
	vars := map[string]any{"workflow": d.Name, "session": "", "state": value(a.State), "record": value(a.Record)}
	var b strings.Builder
	for _, p := range t.parts {
		b.WriteString(p.text)
		if p.code == nil {
			continue
		}
		said, err := m.run(p.code, vars)
		if err != nil || say(said) == "" {
			return ""
		}
		b.WriteString(say(said))
	}
	return b.String()
}

// value decodes text that was accepted before; nil for none or what is no JSON.
func value(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	v, err := decode(raw, maxDocumentSize)
	if err != nil {
		return nil
	}
	return v
}
