package interop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// crunch has a directory per issue, with a YAML document per checkpoint:
//
//	.claude/crunch/42/checkpoints/CP-ready-20261120-0a1b.yaml
//	.claude/crunch/42/checkpoints/index.yaml    a list of the checkpoints
//	.claude/crunch/42/checkpoints/latest        a link to the newest
//	.claude/checkpoint-config.yaml              configuration of the project
//
// A session is an issue.
type crunch struct{}

const (
	crunchHome   = ".claude/crunch"
	crunchDir    = "checkpoints"
	crunchConfig = ".claude/checkpoint-config.yaml"
	indexFile    = "index.yaml"
	latestFile   = "latest"
	keptYAML     = create.KeptYAML
)

// read reads each issue's directory and the configuration file.
func (l crunch) read(r *reading) {
	for _, e := range r.names(crunchHome) {
		dir := path.Join(crunchHome, e.Name(), crunchDir)
		// Do not list directories that the import is not restricted to.
		if !r.leads(dir) && !r.leads(path.Dir(dir)) {
			continue
		}
		if files := r.names(dir); len(files) > 0 {
			l.issue(r, e.Name(), dir, files)
		}
	}
	if r.wanted(crunchConfig) {
		if src, ok := r.parsed(crunchConfig); ok {
			r.settings = src.json
		}
	}
}

// issue adds the session of one issue. If the import is restricted to a single file (all is false),
// index and link are ignored, since they are about the whole directory.
func (l crunch) issue(r *reading, issue, dir string, files []fs.DirEntry) {
	in := transfer.ImportSession{Format: Crunch}
	all := r.wanted(dir)
	var index gjson.Result
	if all {
		if src, ok := r.parsed(path.Join(dir, indexFile)); ok {
			index = src.at
			in.Beside = append(in.Beside, src.kept(indexFile))
		}
	}
	listed := index.Get("checkpoints").Array()
	place := places(listed, "checkpoint_id")
	var documents []*transfer.ImportDocument
	seen := ids{}
	files = slices.DeleteFunc(slices.Clone(files), func(e fs.DirEntry) bool { return e.Name() == indexFile })
	r.each(Crunch, dir, files, yamlFiles, func(name string, src *source) error {
		d, err := l.document(name, issue, src, seen)
		if err != nil {
			return err
		}
		// The index provides the time and trigger if the document has none.
		entry := gjson.Result{}
		if i := place[d.OwnID]; i > 0 {
			entry = listed[i-1]
		}
		var ok bool
		if d.At, ok = moment(text(src.at, "created_at"), text(entry, "created_at")); !ok {
			return errors.New("it has no created_at that is a time from 1970 on")
		}
		d.Trigger = cmp.Or(text(src.at, "trigger"), text(entry, "trigger"))
		in.Topic = cmp.Or(in.Topic, text(src.at, "issue_snapshot.title"))
		documents = append(documents, d)
		return nil
	})
	if len(documents) == 0 {
		return
	}
	session, err := sessionOf("issue-" + issue)
	if err != nil {
		r.problem(dir, "%v", err)
		return
	}
	in.Session = session
	documents = ordered(documents, func(d *transfer.ImportDocument) int { return place[d.OwnID] })
	first := slices.MinFunc(documents, func(a, b *transfer.ImportDocument) int { return a.At.Compare(b.At) })
	in.Steps, in.CreatedAt, in.Branch = gather.List(documents, stepOf), first.At, documents[len(documents)-1].Branch
	if all {
		latest := l.current(r, dir, index)
		if in.Current = keyOfNamed(documents, latest); in.Current == "" && latest != "" {
			r.warn("%s: the latest is %q, which does not exist", dir, latest)
		}
	}
	r.add(dir, in)
}

// places returns where the ids of entries stand in a list, the first one at 1.
func places(list []gjson.Result, id string) map[string]int {
	place := map[string]int{}
	for i, entry := range list {
		place[text(entry, id)] = i + 1
	}
	return place
}

// keyOfNamed returns the key of the document that the layout calls name: by its file, or else by its
// id. It returns "" if there is none.
func keyOfNamed(documents []*transfer.ImportDocument, name string) string {
	key := ""
	for _, d := range documents {
		if d.Key == name || key == "" && d.OwnID == name {
			key = d.Key
		}
	}
	return key
}

// document reads one checkpoint, except for what an index may have too.
func (crunch) document(key, issue string, src *source, seen ids) (*transfer.ImportDocument, error) {
	at := src.at
	if !at.IsObject() || !at.Get("checkpoint_id").Exists() && !at.Get("workflow_state").Exists() {
		// A file that is named like a checkpoint is probably a damaged one. Any other is not ours.
		if strings.HasPrefix(key, "CP-") {
			return nil, errors.New("it is not a checkpoint of crunch: it has neither checkpoint_id nor workflow_state")
		}
		return nil, errForeign
	}
	id := cmp.Or(text(at, "checkpoint_id"), key)
	// Reading an unknown version as if it were 1.0 could misinterpret its members.
	if v := text(at, "version"); v != "" && v != "1.0" && v != "1" {
		return nil, fmt.Errorf("unknown version %q; known version: 1.0", name.Clip(v, name.Said))
	}
	if !isPlainID(id) || !safeName(key) {
		return nil, fmt.Errorf("checkpoint_id %q is not a plain file name", id)
	}
	// The session is named by the directory, so a copied document of another issue would end up in
	// the wrong one.
	if n := text(at, "issue_number"); n != "" && n != issue {
		return nil, fmt.Errorf("issue_number %s in the directory of %s", n, issue)
	}
	if err := seen.claim(id, src); err != nil {
		return nil, err
	}
	d := src.document(key, keptYAML)
	d.OwnID, d.Branch = id, text(at, "issue_snapshot.branch")
	for _, f := range at.Get("files_modified").Array() {
		p := text(f, "path")
		switch text(f, "status") {
		case "added", "created", "new":
			d.Created = append(d.Created, p)
		case "deleted", "removed":
			d.Deleted = append(d.Deleted, p)
		default:
			d.Modified = append(d.Modified, p)
		}
	}
	return d, nil
}

// current returns what the directory calls its current checkpoint, a file name without its ending
// or an id, "" if nothing names it. In a copy on a file system without links, latest is a file that
// contains the name.
func (crunch) current(r *reading, dir string, index gjson.Result) string {
	p := path.Join(dir, latestFile)
	if to, ok := r.link(p); ok {
		if name, ok := stem(to, yamlFiles...); ok && safeName(name) {
			return name
		}
		r.problem(p, "the link points to %q, which is not a checkpoint beside it", to)
		return ""
	}
	data, _ := r.tree.read(p) //nolint:errcheck // an index may name it, too
	called := strings.TrimSpace(string(data))
	if file, ok := stem(called, yamlFiles...); ok {
		called = file
	}
	if safeName(called) {
		return called
	}
	return text(index, "latest")
}

// seconds formats a time in UTC without fractions, as all layouts but ultra-create have it.
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// crunchPhases are the phases of crunch, in order. The first one is step 1.
var crunchPhases = [...]string{"enrich", "ready", "implementing", "validation", "docs"}

// write adds the documents, the index and the link of a session. Originals are written back under
// their own name; documents of other checkpoints get an id that no original has.
func (l crunch) write(a *transfer.Archive, w *rendering) {
	issue := l.number(a)
	if issue == "" {
		issue = numberFor(string(a.Session), 1_000_000)
		w.leave(a, nil, "the name, which has no issue number; it is written as %s", issue)
	}
	root := path.Join(crunchHome, issue, crunchDir)
	ids := map[string]string{} // by checkpoint: the id
	// Ids of originals are reserved first, so that a new checkpoint cannot take the id of an
	// original that comes later.
	used := w.reserved(a)
	var index []json.RawMessage
	for _, c := range w.newest(a) {
		f := file{made: c}
		if content, ok := w.original(c, keptYAML); ok && safeName(c.Import.Key) {
			f.original(c, content)
			f.key, f.doc = c.Import.Key, c.Record.State
		} else {
			f.key, f.doc = l.compose(a, c, issue, used, w)
			f.content = jsonToYAML(f.doc)
		}
		ending := ".yaml"
		// An original that was read from .yml goes back to the same file.
		if c.Import != nil && f.made == nil && strings.HasSuffix(c.Import.Path, ".yml") {
			ending = ".yml"
		}
		f.path = path.Join(root, f.key+ending)
		if w.addDocument(a, c, f) {
			ids[string(c.Record.ID)] = f.key + ending
			index = append(index, l.entry(c, f))
		}
	}
	l.derived(a, w, root, issue, ids, index)
}

// number returns the issue number for a session, which is the name of its directory: that of the
// imported documents, the number in the session's name, the one in a state, or any digits in the
// name. It is "" if there is none.
func (crunch) number(a *transfer.Archive) string {
	for _, c := range imported(a, Crunch) {
		if name := path.Base(path.Dir(path.Dir(c.Import.Path))); isPlainID(name) {
			return name
		}
	}
	// A session such as issue-42 is named after its issue.
	if n, err := strconv.ParseUint(strings.TrimPrefix(string(a.Session), "issue-"), 10, 53); err == nil {
		return strconv.FormatUint(n, 10)
	}
	for _, c := range a.Checkpoints {
		if n := text(gjson.ParseBytes(c.Record.State), "issue_number"); safeName(n) {
			return n
		}
	}
	digits := firstDigits().FindString(string(a.Session))
	// Larger numbers are not exact in readers that use float64.
	if len(digits) > 15 {
		return ""
	}
	return strings.TrimLeft(digits, "0")
}

// numberFor derives a number below a limit from a name. It is always the same for the same name, so
// that a mirror stays in the same place.
func numberFor(session string, below uint32) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(session))%below), 10)
}

// phase returns the phase of a checkpoint: its step name if that is one, else the phase at the
// position of its step number.
func (crunch) phase(c *transfer.Archived) string {
	if slices.Contains(crunchPhases[:], c.Record.StepName) {
		return c.Record.StepName
	}
	return crunchPhases[min(max(c.Record.Step, 1), len(crunchPhases))-1]
}

// compose returns the id and document of a checkpoint that has no original. The
// state is the document itself. A state that was carried over from the previous checkpoint
// still has the id of that one; then the document gets a new id and time.
func (l crunch) compose(a *transfer.Archive, c *transfer.Archived, issue string, used map[string]bool, w *rendering) (string, json.RawMessage) {
	r := c.Record
	doc := members(r.State)
	id := text(gjson.ParseBytes(r.State), "checkpoint_id")
	if !safeName(id) || used[id] {
		id = l.newID(c, used)
		doc.front("checkpoint_id", id)
		doc.set("created_at", seconds(r.CreatedAt))
		if _, there := doc.values["trigger"]; there || r.Trigger != "" {
			doc.set("trigger", r.Trigger)
		}
	}
	used[id] = true
	doc.missing("version", "1.0")
	doc.missing("created_at", seconds(r.CreatedAt))
	doc.missing("issue_number", json.RawMessage(issueNumber(issue)))
	doc.missing("trigger", r.Trigger)
	doc.missing("workflow_state", objectOf("current_phase", l.phase(c)))
	w.leaveOutputs(a, c)
	return id, doc.json()
}

// issueNumber returns the issue as JSON: a number if it is one, else a string.
func issueNumber(issue string) string {
	if strings.Trim(issue, "0123456789") == "" && len(issue) < 16 {
		return issue
	}
	return string(encode(issue))
}

// newID returns an id in crunch's form: phase, day, and the last four digits of the checkpoint's
// id. A number is added if the result is in use.
func (l crunch) newID(c *transfer.Archived, used map[string]bool) string {
	r := c.Record
	tail := string(r.ID)
	id := "CP-" + l.phase(c) + "-" + r.CreatedAt.UTC().Format("20060102") + "-" + tail[max(0, len(tail)-4):]
	return unused(id, "-", used)
}

// front sets a member and makes it the first.
func (o *object) front(name string, value any) {
	o.drop(name)
	o.set(name, value)
	o.names = append([]string{name}, o.names[:len(o.names)-1]...)
}

// entry returns the line of a checkpoint in the index.
func (crunch) entry(c *transfer.Archived, f file) json.RawMessage {
	doc := gjson.ParseBytes(f.doc)
	return objectOf(
		"checkpoint_id", cmp.Or(text(doc, "checkpoint_id"), f.key),
		"created_at", cmp.Or(text(doc, "created_at"), seconds(c.Record.CreatedAt)),
		"trigger", cmp.Or(text(doc, "trigger"), c.Record.Trigger),
		"phase", cmp.Or(text(doc, "workflow_state.current_phase"), c.Record.StepName),
		"can_resume", doc.Get("recovery_info.can_resume").Type != gjson.False,
	).json()
}

// derived adds the index and the link. If nothing happened since the import, the index is the
// imported one. Otherwise its own entries stay as they are, those of pruned checkpoints are
// removed, and new ones are appended.
func (l crunch) derived(a *transfer.Archive, w *rendering, root, issue string, ids map[string]string, entries []json.RawMessage) {
	if len(entries) == 0 {
		return
	}
	was := w.keptFile(a, indexFile)
	newest, there := ids[string(a.Current)]
	if there {
		w.files = append(w.files, file{path: path.Join(root, latestFile), to: newest, content: leading(newest)})
	}
	if !w.mixed(a) {
		w.derive(path.Join(root, indexFile), was)
		return
	}
	o := &object{}
	if doc, err := yamlToJSON(was); was != nil && err == nil {
		o = members(doc)
	}
	// A pruned checkpoint keeps its entry if another one has its id.
	named := gather.Set(entries, func(e json.RawMessage) string { return text(gjson.ParseBytes(e), "checkpoint_id") })
	stays := func(id string) bool { return !slices.Contains(a.Gone, id) || named[id] }
	all := merged(o.values["checkpoints"], "checkpoint_id", stays, entries)
	o.missing("issue_number", json.RawMessage(issueNumber(issue)))
	o.set("checkpoints", all)
	if there {
		name, _ := stem(newest, ".yaml", ".yml")
		o.set("latest", name)
	} else if latest := gjson.ParseBytes(o.values["latest"]); !stays(latest.String()) {
		o.set("latest", nil)
	}
	o.set("total_checkpoints", len(all))
	w.derive(path.Join(root, indexFile), jsonToYAML(o.json()))
}
