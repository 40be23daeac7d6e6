package interop

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// write adds the documents and rows of a session. Originals are written back to where they were;
// every other checkpoint gets both a document and a row.
func (u ultraCreate) write(a *transfer.Archive, w *rendering) {
	project := u.projectOf(a)
	// Ids of originals are reserved first, so that a new checkpoint cannot take the id of an
	// original that comes later.
	used := w.reserved(a)
	for _, c := range w.newest(a) {
		document, hasFile := w.original(c, keptDocument)
		row, hasRow := w.original(c, keptRow)
		if hasFile && c.Import.Here {
			u.given(a, c, w, document, used)
			continue
		}
		if hasFile || hasRow {
			u.writeOriginals(a, c, w, document, row)
			continue
		}
		id := c.Document
		if !safeName(id) || used[id] {
			id = u.newID(c, used)
		}
		used[id] = true
		doc := u.compose(a, c, id, project, w)
		w.addWithRow(a, c, file{path: path.Join(ultraHome, id+".json"), key: id, doc: doc, content: create.JSONFile(doc), made: c})
	}
}

// addWithRow adds a document and its row.
func (w *rendering) addWithRow(a *transfer.Archive, c *transfer.Archived, f file) {
	if row, ok := rowOfDocument(f.key, f.content); w.addDocument(a, c, f) && ok {
		w.rows = append(w.rows, row)
	}
}

// given writes back the document that a create was given, and a row for it.
func (u ultraCreate) given(a *transfer.Archive, c *transfer.Archived, w *rendering, document []byte, used map[string]bool) {
	id := c.Import.Key
	if doc, err := transfer.ParseDocument(unmarked(document)); !safeName(id) && err == nil { // nothing else names the file
		id = u.newID(c, used)
		o := members(doc)
		o.front("checkpoint_id", id)
		document = create.JSONFile(o.json())
	}
	f := file{path: path.Join(ultraHome, id+".json"), key: id}
	f.original(c, document)
	w.addWithRow(a, c, f)
}

// writeOriginals writes originals back. In a session that went on here, documents and rows have to agree, so
// a document gets a row if it had none, and a row gets a document.
func (u ultraCreate) writeOriginals(a *transfer.Archive, c *transfer.Archived, w *rendering, document, row []byte) {
	switch {
	case !w.mixed(a):
	case document == nil:
		if made, err := rowOf(row).document(); err == nil {
			document = create.JSONFile(made)
		}
	case row == nil:
		if made, ok := rowOfDocument(c.Import.Key, document); ok {
			row = made.file()
		}
	}
	if document != nil {
		name, ok := base(c.Import)
		if !ok {
			// The checkpoint was only a row, so there is no file name to reuse and its id becomes
			// one.
			if name = c.Import.Key; !safeName(name) {
				w.leave(a, c, "the id %q cannot be a file", name)
				return
			}
		}
		if !w.addDocument(a, c, file{path: path.Join(ultraHome, name+".json"), key: c.Import.Key, content: document}) {
			return
		}
	}
	if row != nil {
		w.rows = append(w.rows, rowOf(row))
	}
}

// rowOf reads a row that was kept with a checkpoint. What is damaged in it is NULL.
func rowOf(kept []byte) *ultraRow {
	row := &ultraRow{}
	json.Unmarshal(kept, row) //nolint:errcheck // see above
	return row
}

// projectOf returns the project id of a session: that of its imported documents, or else its name.
func (ultraCreate) projectOf(a *transfer.Archive) string {
	for _, c := range a.Checkpoints {
		if c.Import == nil || c.Import.Format != UltraCreate {
			continue
		}
		for _, name := range []string{keptDocument, keptRow} {
			if id := text(gjson.ParseBytes(unmarked(c.Import.Files[name])), "project_id"); id != "" {
				return id
			}
		}
	}
	return string(a.Session)
}

// newID returns an id in ultra-create's form, made of time and phase. A second checkpoint in the
// same second gets a number.
func (ultraCreate) newID(c *transfer.Archived, used map[string]bool) string {
	id := "cp_" + c.Record.CreatedAt.UTC().Format("20060102_150405") + "_phase" + strconv.Itoa(c.Record.Step)
	return unused(id, "_", used)
}

// compose returns the document of a checkpoint that has no original. The state is written as it is, except that its
// metrics are moved to the document, where ultra-create has them.
func (u ultraCreate) compose(a *transfer.Archive, c *transfer.Archived, id, project string, w *rendering) json.RawMessage {
	r := c.Record
	o := objectOf("checkpoint_id", id, "project_id", project, "phase", "phase_"+strconv.Itoa(r.Step), "timestamp", stamp(r.CreatedAt))
	if r.Message != "" {
		o.set("description", r.Message)
	}
	s := members(r.State)
	metrics, there := s.values["metrics"]
	if s.drop("metrics"); !there {
		metrics = json.RawMessage("{}")
	}
	for _, list := range []string{"completed_tasks", "pending_tasks", "failed_tasks"} {
		s.missing(list, none)
	}
	// The layout lists no other files.
	s.missing("files_created", gather.List(create.FromPaths(r.Files.Created), func(p string) json.RawMessage { return objectOf("path", p).json() }))
	s.missing("decisions", none)
	worktrees := gather.List(r.Git.Worktrees, func(w record.Worktree) string { return string(w.Name) })
	s.missing("git_state", objectOf("branch", branchIn(r), "commit", r.Git.Head, "worktrees", worktrees))
	o.raw("state", create.Compact(s.json()))
	o.raw("metrics", metrics)
	w.leaveOutputs(a, c)
	return o.json()
}

// drop removes a member.
func (o *object) drop(name string) {
	delete(o.values, name)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
}
