package interop

import (
	"cmp"
	"encoding/json"
	"hash/crc32"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/transfer"
)

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
