package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/transfer"
)

// rendering is what sessions are in a layout: files, links, rows, and what could not go.
type rendering struct {
	format string
	exists func(dir string) bool // in the directory that is written to

	files []file
	links []link
	rows  []*ultraRow
	left  []LeftOut
	taken map[string]string // path → label
	kept  map[string]bool   // contents that an import keeps: they may be replaced
}

// file is one file of a layout. One that only tells of others is derived.
type file struct {
	path    string
	content []byte
	key     string // of the document; empty: derived
	doc     json.RawMessage
	made    *transfer.Archived // nil: it was imported as it is
}

type link struct{ path, to string }

// LeftOut is what a layout has no place for.
type LeftOut struct {
	Session    string `json:"session"`
	Checkpoint string `json:"checkpoint"` // label; empty: of the whole session
	What       string `json:"what"`
}

func newRendering(format string, exists func(string) bool) *rendering {
	return &rendering{format: format, exists: exists, taken: map[string]string{}, kept: map[string]bool{}}
}

// render adds a session.
func (w *rendering) render(a *transfer.Archive) {
	for _, p := range a.Problems {
		w.leave(a, nil, "%s", p)
	}
	for i := range a.Checkpoints {
		if im := a.Checkpoints[i].Import; im != nil {
			for _, content := range im.Files {
				w.kept[string(content)] = true
			}
		}
	}
	layouts()[w.format].write(a, w)
}

// leave says what does not go.
func (w *rendering) leave(a *transfer.Archive, c *transfer.Archived, format string, args ...any) {
	l := LeftOut{Session: string(a.Session), What: fmt.Sprintf(format, args...)}
	if c != nil {
		l.Checkpoint = c.Record.Label
	}
	w.left = append(w.left, l)
}

// place adds a document unless its place is taken: then the one before it stays.
func (w *rendering) place(a *transfer.Archive, c *transfer.Archived, f file) bool {
	at := strings.ToLower(f.path)
	if by, taken := w.taken[at]; taken {
		w.leave(a, c, "%s is taken by %s", f.path, by)
		return false
	}
	w.taken[at] = c.Record.Label
	w.files = append(w.files, f)
	return true
}

// overtaken says which checkpoints are not written, because a newer one was imported from
// the same document: as place does, with the newest in front.
func (w *rendering) overtaken(a *transfer.Archive) map[int]bool {
	older, by := map[int]bool{}, map[string]string{}
	for _, i := range newestFirst(a) {
		c := &a.Checkpoints[i]
		if c.Import == nil || c.Import.Format != w.format {
			continue
		}
		key := strings.ToLower(c.Import.Key)
		if newer, twice := by[key]; twice {
			older[i] = true
			w.leave(a, c, "%s is taken by %s", c.Import.Path, newer)
			continue
		}
		by[key] = c.Record.Label
	}
	return older
}

// derive adds a file that only tells of others.
func (w *rendering) derive(p string, content []byte) {
	w.files = append(w.files, file{path: p, content: content})
}

// original is the document that a checkpoint was imported from, if it was one of this
// layout.
func (w *rendering) original(c *transfer.Archived, name string) ([]byte, bool) {
	if c.Import == nil || c.Import.Format != w.format {
		return nil, false
	}
	content, ok := c.Import.Files[name]
	return content, ok
}

// beside is the newest of a file that stood beside the documents.
func (w *rendering) beside(a *transfer.Archive, name string) []byte {
	for i := len(a.Checkpoints) - 1; i >= 0; i-- {
		if content, ok := w.original(&a.Checkpoints[i], name); ok {
			return content
		}
	}
	return nil
}

// mixed reports whether anything of a session was not imported as it is, or happened
// since.
func (w *rendering) mixed(a *transfer.Archive) bool {
	for i := range a.Checkpoints {
		if im := a.Checkpoints[i].Import; im == nil || im.Format != w.format {
			return true
		}
	}
	return a.Touched
}

// current is the checkpoint that a layout with one document has: the current one.
func current(a *transfer.Archive) *transfer.Archived {
	for i := range a.Checkpoints {
		if a.Checkpoints[i].Record.ID == a.Current {
			return &a.Checkpoints[i]
		}
	}
	for i := len(a.Checkpoints) - 1; i >= 0; i-- {
		if a.Checkpoints[i].Live {
			return &a.Checkpoints[i]
		}
	}
	return nil
}

// base is the last part of the path that a document was imported from, where it is a
// plain name: nothing else is ever taken from there.
func base(im *transfer.ImportSource) (string, bool) {
	name, ok := stem(path.Base(im.Path), ".json")
	return name, ok && safeName(name)
}

// parent is the name of the directory above an imported document, where it is plain.
func parent(im *transfer.ImportSource) (string, bool) {
	name := path.Base(path.Dir(im.Path))
	return name, safeName(name)
}

// knownDocuments are those of a session's own checkpoints, by key.
func knownDocuments(format string, a *transfer.Archive) map[string]transfer.KnownDocument {
	w := newRendering(format, func(string) bool { return false })
	w.render(a)
	known := map[string]transfer.KnownDocument{}
	for _, f := range w.files {
		if f.made == nil || f.key == "" {
			continue
		}
		if digest, err := transfer.DocumentDigest(f.doc); err == nil {
			known[f.key] = transfer.KnownDocument{ID: f.made.Record.ID, Digest: digest}
		}
	}
	return known
}

// members copies an object's members in their order.
func members(raw json.RawMessage) *object {
	o := &object{}
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		o.raw(key.String(), json.RawMessage(value.Raw))
		return true
	})
	return o
}

// missing sets a member that is not there.
func (o *object) missing(name string, value any) {
	if _, there := o.values[name]; !there {
		o.set(name, value)
	}
}

// sameJSON compares what two texts say, not how.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := transfer.ParseDocument(a)
	y, errY := transfer.ParseDocument(b)
	if errX != nil || errY != nil {
		return false
	}
	dx, errX := transfer.DocumentDigest(x)
	dy, errY := transfer.DocumentDigest(y)
	return errX == nil && errY == nil && dx == dy
}
