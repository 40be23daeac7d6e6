package interop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// rendering is the representation of sessions in one layout, before it is written: files, database
// rows, and a list of what the layout cannot represent.
type rendering struct {
	format string
	exists func(dir string) bool // whether the target has this directory

	files []file
	rows  []*ultraRow
	left  []LeftOut
	taken map[string]string // by lower-case path: the label of the checkpoint that is written there
	kept  map[string]bool   // contents that checkpoints have a copy of, so nothing is lost by replacing them
}

// file is one file of a layout: either the document of a checkpoint, or a derived file or link such
// as an index that is generated from the documents.
type file struct {
	path    string
	content []byte
	to      string             // for a symbolic link: the name of a file beside it; content is then what leading gives
	key     string             // what the layout calls the checkpoint; "" for a derived file
	doc     json.RawMessage    // the document as JSON, if there is one to compare an import with
	made    *transfer.Archived // the checkpoint it was composed from; nil for an original that is written back
}

// LeftOut is something that the layout cannot represent.
type LeftOut struct {
	Session    string `json:"session"`
	Checkpoint string `json:"checkpoint"` // label; "" if it concerns the whole session
	What       string `json:"what"`
}

// newRendering returns an empty rendering for a layout.
func newRendering(format string, exists func(string) bool) *rendering {
	return &rendering{format: format, exists: exists, taken: map[string]string{}, kept: map[string]bool{}}
}

// render adds a session to the rendering, without the checkpoints that landings made.
func (w *rendering) render(whole *transfer.Archive) {
	a := new(*whole)
	a.Checkpoints = slices.DeleteFunc(slices.Clone(a.Checkpoints), func(c *transfer.Archived) bool {
		if c.Landed != "" && c.Record.ID == a.Current {
			a.Current = c.Landed
		}
		return c.Landed != ""
	})
	for _, p := range a.Problems {
		w.leave(a, nil, "%s", p)
	}
	for _, c := range a.Checkpoints {
		// The repository has a copy of these files, so a file in the target with the same content
		// can be replaced without losing anything.
		if im := c.Import; im != nil {
			for _, content := range im.Files {
				w.kept[string(content)] = true
			}
		}
	}
	layouts()[w.format].write(a, w)
}

// leave records that something is left out. c is nil if it concerns the whole session.
func (w *rendering) leave(a *transfer.Archive, c *transfer.Archived, format string, args ...any) {
	l := LeftOut{Session: string(a.Session), What: fmt.Sprintf(format, args...)}
	if c != nil {
		l.Checkpoint = c.Record.Label
	}
	w.left = append(w.left, l)
}

// leaveOutputs records that the outputs of a checkpoint are left out.
func (w *rendering) leaveOutputs(a *transfer.Archive, c *transfer.Archived) {
	for _, name := range create.SortedKeys(c.Outputs) {
		w.leave(a, c, "output %s", name)
	}
}

// addDocument adds the document of a checkpoint, unless an earlier one has the same path; that one then
// stays and addDocument returns false. Paths are compared without case, because some file systems do.
func (w *rendering) addDocument(a *transfer.Archive, c *transfer.Archived, f file) bool {
	at := strings.ToLower(f.path)
	if by, taken := w.taken[at]; taken {
		w.leave(a, c, "%s is taken by %s", f.path, by)
		return false
	}
	w.taken[at] = c.Record.Label
	w.files = append(w.files, f)
	return true
}

// newest returns the checkpoints without those that a newer one was imported over, from the same
// document or file, and without discarded ones whose id a pruned one had or that are more than the workflow
// keeps, and reports those as left out. Layouts that add checkpoints from oldest to newest
// need it: place alone would keep the oldest.
func (w *rendering) newest(a *transfer.Archive) []*transfer.Archived {
	older, by, kept, keep := map[*transfer.Archived]bool{}, map[string]string{}, 0, math.MaxInt
	if def, ok := workflow.Builtin(w.format); ok && def.Retention.Keep != nil {
		keep = *def.Retention.Keep
	}
	for _, c := range newestFirst(a) {
		if kept++; c.Discarded && kept > keep {
			older[c] = true
			w.leave(a, c, "it is discarded, and %s keeps %d checkpoints", w.format, keep)
			continue
		}
		id := c.Document
		if c.Import != nil {
			id = cmp.Or(c.Import.Key, id)
		}
		if c.Discarded && id != "" && slices.Contains(a.Gone, id) {
			older[c] = true
			w.leave(a, c, "%s was made again and then pruned", id)
			continue
		}
		if c.Import == nil || c.Import.Format != w.format || c.Import.Key == "" {
			continue
		}
		key, file := strings.ToLower(c.Import.Key), strings.ToLower(cmp.Or(c.Import.Path, c.Import.Key))
		if newer := cmp.Or(by[key], by[file]); newer != "" {
			older[c] = true
			w.leave(a, c, "%s is taken by %s", cmp.Or(c.Import.Path, c.Import.Key), newer)
			continue
		}
		by[key], by[file] = c.Record.Label, c.Record.Label
	}
	return slices.DeleteFunc(slices.Clone(a.Checkpoints), func(c *transfer.Archived) bool { return older[c] })
}

// imported returns the checkpoints that were imported from a layout, not those that a create made
// from its documents.
func imported(a *transfer.Archive, format string) []*transfer.Archived {
	return slices.DeleteFunc(slices.Clone(a.Checkpoints), func(c *transfer.Archived) bool {
		return c.Import == nil || c.Import.Format != format || c.Import.Here
	})
}

// original sets the content of a file to a kept document. If a create was given that document here,
// an import has to know it as the checkpoint's.
func (f *file) original(c *transfer.Archived, content []byte) {
	f.content, f.made = content, nil
	if c.Import.Here {
		f.made = c
		f.doc, _ = transfer.ParseDocument(unmarked(content)) //nolint:errcheck // nil: the import takes it for a new one
	}
}

// reserved returns the names and ids of the documents that were imported from this layout.
func (w *rendering) reserved(a *transfer.Archive) map[string]bool {
	used := map[string]bool{}
	for _, c := range a.Checkpoints {
		if c.Import != nil && c.Import.Format == w.format {
			used[c.Import.Key], used[c.Document] = true, true
		}
	}
	return used
}

// derive adds a derived file, unless there is no content for it.
func (w *rendering) derive(p string, content []byte) {
	if content != nil {
		w.files = append(w.files, file{path: p, content: content})
	}
}

// original returns a file that was kept when the checkpoint was imported, if that was from the same
// layout.
func (w *rendering) original(c *transfer.Archived, name string) ([]byte, bool) {
	if c.Import == nil || c.Import.Format != w.format {
		return nil, false
	}
	content, ok := c.Import.Files[name]
	return content, ok
}

// keptFile returns the newest version of a file that was kept along with the documents, such as a
// manifest, or nil.
func (w *rendering) keptFile(a *transfer.Archive, name string) []byte {
	for _, c := range slices.Backward(a.Checkpoints) {
		if content, ok := w.original(c, name); ok {
			return content
		}
	}
	return nil
}

// mixed reports whether the session has anything besides what was imported from this layout. If
// not, its derived files can be written back unchanged.
func (w *rendering) mixed(a *transfer.Archive) bool {
	return a.Touched || len(imported(a, w.format)) < len(a.Checkpoints)
}

// merged returns the entries of an imported list that stay, and those of made that it lacks. The
// member tells them apart.
func merged(was json.RawMessage, member string, stays func(id string) bool, made []json.RawMessage) []json.RawMessage {
	listed := map[string]bool{}
	out := []json.RawMessage{}
	for _, e := range rawList(gjson.ParseBytes(was)) {
		if id := text(gjson.ParseBytes(e), member); stays(id) {
			listed[id] = true
			out = append(out, e)
		}
	}
	out = append(out, gather.Those(made, func(e json.RawMessage) bool { return !listed[text(gjson.ParseBytes(e), member)] })...)
	return out
}

// current returns the checkpoint to write in a layout with one document per session: the current
// one, or else the newest live one.
func current(a *transfer.Archive) *transfer.Archived {
	for _, c := range a.Checkpoints {
		if c.Record.ID == a.Current {
			return c
		}
	}
	for _, c := range newestFirst(a) {
		if c.Live {
			return c
		}
	}
	return nil
}

// base returns the file name, without .json, of the document that a checkpoint was imported from.
// ok is false unless it is a safe name. Only this name is reused for an export, never the path.
func base(im *transfer.ImportSource) (string, bool) {
	name, ok := stem(path.Base(im.Path), ".json")
	return name, ok && safeName(name)
}

// knownDocuments returns the documents that an export would compose for the session's own
// checkpoints, by key. See know.
func knownDocuments(format string, a *transfer.Archive) map[string]transfer.KnownDocument {
	w := newRendering(format, func(string) bool { return false })
	if a.Workflow == format {
		w.render(a)
	}
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

// members returns the members of a JSON object in their order.
func members(raw json.RawMessage) *object {
	o := &object{}
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		o.raw(key.String(), json.RawMessage(value.Raw))
		return true
	})
	return o
}

// missing sets a member unless it exists.
func (o *object) missing(name string, value any) {
	if _, there := o.values[name]; !there {
		o.set(name, value)
	}
}

// sameJSON reports whether two documents have the same content, whatever their formatting.
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
