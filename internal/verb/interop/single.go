package interop

// This file has orchestrate and pipeline, the layouts with one document for each session.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// orchestrate has one JSON document per workflow, which its tools update in place. They move the
// documents of failed and abandoned workflows to a subdirectory:
//
//	checkpoints/implement_dark_theme_20260302_120000.json
//	checkpoints/failed/<id>.json
//
// A session is a workflow. The document is the state, and each import of a changed document adds a
// checkpoint to the session.
type orchestrate struct{}

const (
	orchestrateHome   = "checkpoints"
	orchestrateFailed = "failed"
)

// orchestrateID matches the id of a document, which ends in the time at which the workflow started.
var orchestrateID = lazy.Pattern(`^[a-zA-Z].*_(\d{8}_\d{6})$`)

func (o orchestrate) read(r *reading) {
	seen := ids{}
	for _, dir := range []string{orchestrateHome, path.Join(orchestrateHome, orchestrateFailed)} {
		r.each(Orchestrate, dir, r.names(dir), jsonFiles, func(name string, src *source) error { return o.document(r, name, src, seen) })
	}
}

// document adds the session of one document. A time that the document lacks is taken from its name,
// and a session never starts after its first checkpoint. The directory, not the document, tells
// whether the session is closed.
//
// go-team keeps directories in checkpoints/ too, and other tools may keep files there. So a file
// that has nothing in common with a document is left out with a warning. A second document with the
// same id and content is a copy that was not removed when the original was moved to the directory
// of failed ones; it is left out as well.
func (o orchestrate) document(r *reading, name string, src *source, seen ids) error {
	parts := orchestrateID().FindStringSubmatch(name)
	at := src.at
	if !at.IsObject() || !at.Get("workflow_type").Exists() && !at.Get("workflow_state").Exists() && parts == nil {
		return errForeign
	}
	for _, member := range []string{"workflow_type", "workflow_state"} {
		if !at.Get(member).Exists() {
			return fmt.Errorf("it has no %s", member)
		}
	}
	id := cmp.Or(text(at, "checkpoint_id"), name)
	if !isPlainID(id) || !safeName(name) {
		return fmt.Errorf("checkpoint_id %q is not a plain file name", id)
	}
	if err := seen.claim(id, src); err != nil {
		return err
	}
	stamp := ""
	if parts != nil {
		stamp = parts[1]
	}
	when, ok := moment(text(at, "updated_at"), text(at, "created_at"), stamp)
	if !ok {
		return errors.New("neither updated_at nor created_at is a time from 1970 on")
	}
	began, ok := moment(text(at, "created_at"), stamp)
	if !ok || began.After(when) {
		began = when
	}
	session, err := sessionOf(id)
	if err != nil {
		return err
	}
	in := transfer.ImportSession{Session: session, Format: Orchestrate, Topic: text(at, "workflow_description"), CreatedAt: began}
	if path.Base(path.Dir(src.path)) == orchestrateFailed {
		in.Status = "failed"
		if text(at, "status") == "abandoned" {
			in.Status = "abandoned"
		}
	}
	d := src.document(id, keptDocument)
	d.At, d.Step = when, whole(at.Get("current_phase"))
	r.addOnce(in, d)
	return nil
}

// pipeline has one JSON document per requirement (PRD), which its tools update in place:
//
//	.claude/skills/build-pipeline/checkpoints/PRD-014.json
//
// A session is a requirement. The document is the state, and each import of a changed document adds
// a checkpoint to the session.
type pipeline struct{}

// pipelineHome is the directory of the documents.
const pipelineHome = ".claude/skills/build-pipeline/checkpoints"

// pipelineID matches the id of a requirement, such as PRD-014.
var pipelineID = lazy.Pattern(`^PRD-\d{3}$`)

func (l pipeline) read(r *reading) {
	seen := ids{}
	r.each(Pipeline, pipelineHome, r.names(pipelineHome), jsonFiles, func(name string, src *source) error { return l.document(r, name, src, seen) })
}

// document adds the session of one document. The id is the document's own, whatever the file is
// called. Two files with the same content are one session; with different content they are a
// problem.
func (pipeline) document(r *reading, name string, src *source, seen ids) error {
	at := src.at
	// A file that has neither the name nor the main member of a document is somebody else's. One
	// that has either of them, but not the rest, is a damaged document and therefore a problem.
	if !at.IsObject() || !at.Get("prd").Exists() && !pipelineID().MatchString(name) {
		return errForeign
	}
	for _, member := range []string{"prd", "status", "timestamp"} {
		if text(at, member) == "" {
			return fmt.Errorf("it has no %s", member)
		}
	}
	prd := text(at, "prd")
	if !pipelineID().MatchString(prd) || !safeName(name) {
		return fmt.Errorf("prd %q is not of the form PRD-014", prd)
	}
	when, ok := moment(text(at, "timestamp"))
	if !ok {
		return fmt.Errorf("timestamp %q is not an ISO 8601 time from 1970 on", text(at, "timestamp"))
	}
	if err := seen.claim(prd, src); err != nil {
		return err
	}
	// A changed document has the same key, so the import adds a checkpoint after the existing one.
	d := src.document(prd, keptDocument)
	d.At, d.Step = when, whole(at.Get("current_phase"))
	r.addOnce(transfer.ImportSession{Session: prd, Format: Pipeline, Topic: text(at, "prd_title"), CreatedAt: when}, d)
	return nil
}

// These two layouts have one document per session, which their tools update in place, so an export writes the
// current checkpoint only.
//
// single adds the document of a session: the original of its current checkpoint c, or else what
// compose makes of c, under the name of the newest original or the given id. An import recognises
// it by its member. A status that the session was closed with replaces that of the document; empty:
// none. All other checkpoints are reported as left out.
func (w *rendering) single(a *transfer.Archive, c *transfer.Archived, dir, id, member, status string, compose func() json.RawMessage) {
	f := file{made: c}
	named := imported(a, w.format)
	if original, ok := w.original(c, keptDocument); ok && c.Import.Key != "" {
		f.original(c, original)
		f.key = c.Import.Key
		named = []*transfer.Archived{c}
	} else {
		f.doc = compose()
		f.content, f.key = create.JSONFile(f.doc), cmp.Or(text(gjson.ParseBytes(f.doc), member), id)
	}
	if said, err := sjson.SetBytes(unmarked(f.content), "status", status); err == nil && status != "" && gjson.GetBytes(unmarked(f.content), "status").String() != status {
		f.content, f.made = said, c
		f.doc, _ = transfer.ParseDocument(said) //nolint:errcheck // it was one before
	}
	for _, from := range named {
		if name, ok := base(from.Import); ok {
			id = name
		}
	}
	f.path = path.Join(dir, id+".json")
	if !w.addDocument(a, c, f) {
		return
	}
	for _, other := range a.Checkpoints {
		if other != c {
			w.leave(a, other, "the layout has one document for the session, %s", f.path)
		}
	}
}

// write adds the document of a session. Those of failed and abandoned sessions are in a
// subdirectory. An original goes back to the directory that it came from, unless the session went on
// or was closed here.
func (o orchestrate) write(a *transfer.Archive, w *rendering) {
	c := current(a)
	if c == nil {
		return
	}
	id, dir := o.id(a), orchestrateHome
	closed, status := a.Status == "failed" || a.Status == "abandoned", ""
	if closed {
		status = a.Status
	}
	if _, ok := w.original(c, keptDocument); ok && !a.Touched {
		closed = strings.HasPrefix(c.Import.Path, orchestrateHome+"/"+orchestrateFailed+"/")
		status = "" // nobody closed it here
	}
	if closed {
		dir = path.Join(orchestrateHome, orchestrateFailed)
	}
	w.single(a, c, dir, id, "checkpoint_id", status, func() json.RawMessage { return o.compose(a, c, id, w) })
}

// id returns the id of a session's document: the file name from which it was imported; the
// session's name if it has the form of an id; the id in a state; or else one made of the type and
// project in the first state, for which the session's name stands in, and of the time of the first
// checkpoint. It has to be the same for each export, or a mirror would get a new file per checkpoint.
func (o orchestrate) id(a *transfer.Archive) string {
	for _, c := range imported(a, Orchestrate) {
		if name, ok := base(c.Import); ok {
			return name
		}
	}
	if orchestrateID().MatchString(string(a.Session)) {
		return string(a.Session)
	}
	// A session that was named after an orchestrate workflow has the kind of the workflow in front.
	kind, project := Orchestrate, string(a.Session)
	for _, k := range []string{"implement", "test-all", Orchestrate} {
		if rest, ok := strings.CutPrefix(project, k+"_"); ok {
			kind, project = k, rest
		}
	}
	for i, c := range a.Checkpoints {
		state := gjson.ParseBytes(c.Record.State)
		if id := text(state, "checkpoint_id"); safeName(id) {
			return id
		}
		if said := text(state, "workflow_type"); i == 0 && safeName(said) {
			kind, project = said, cmp.Or(text(state, "workflow_state.project_name"), project)
		}
	}
	return kind + "_" + workflow.Snake(project) + "_" + o.began(a).UTC().Format("20060102_150405")
}

// began returns the time of the first checkpoint, which may be gone by now.
func (orchestrate) began(a *transfer.Archive) time.Time {
	for _, e := range a.Events {
		if e.Event == "create" {
			return e.Time.Time
		}
	}
	return a.CreatedAt
}

// compose returns the document of a checkpoint that has no original. It
// is the state, with missing members added.
func (o orchestrate) compose(a *transfer.Archive, c *transfer.Archived, id string, w *rendering) json.RawMessage {
	doc := members(c.Record.State)
	renew(a, c, doc, "updated_at")
	kind, project, _ := strings.Cut(id, "_")
	doc.missing("checkpoint_id", id)
	doc.missing("workflow_type", kind)
	doc.missing("workflow_description", cmp.Or(c.Record.Topic, a.Topic))
	for _, c := range a.Checkpoints {
		if at := text(gjson.ParseBytes(c.Record.State), "created_at"); at != "" {
			doc.missing("created_at", at)
		}
	}
	doc.missing("created_at", seconds(o.began(a)))
	doc.missing("updated_at", seconds(c.Record.CreatedAt))
	doc.missing("status", cmp.Or(c.Record.Status, "in_progress"))
	doc.missing("current_phase", c.Record.Step)
	steps := none
	if gjson.GetBytes(c.Record.State, "total_phases").Int() == 0 {
		steps = milestones(a)
	}
	doc.missing("completed_phases", steps)
	// The id ends in "_" and a time of 15 characters.
	if len(project) > 16 {
		project = project[:len(project)-16]
	}
	artifacts := &object{}
	for _, name := range create.SortedKeys(c.Outputs) {
		// orchestrate records the path of an artifact, not its content. Only an output that was
		// made from a file here has a path.
		if source := string(c.Record.Outputs[name].Source); source != "" && c.Import == nil {
			artifacts.set(name, source)
		} else {
			w.leave(a, c, "output %s", name)
		}
	}
	doc.missing("workflow_state", objectOf("project_name", project, "artifact_registry", artifacts))
	doc.missing("last_error", c.Record.Error)
	return doc.json()
}

// renew updates the time, a member of this name, and the status in a state that was carried over from
// the previous checkpoint.
func renew(a *transfer.Archive, c *transfer.Archived, doc *object, time string) {
	if carried(a, c, time) {
		doc.set(time, seconds(c.Record.CreatedAt))
	}
	if status := text(gjson.ParseBytes(c.Record.State), "status"); status != c.Record.Status && c.Record.Status != "" {
		doc.set("status", c.Record.Status)
	}
}

// carried reports whether a member still has the value from the previous checkpoint although the
// rest of the state changed. Then nobody has set it for this checkpoint.
func carried(a *transfer.Archive, c *transfer.Archived, member string) bool {
	for _, was := range a.Checkpoints {
		if was.Record.ID != c.Before {
			continue
		}
		old := gjson.GetBytes(was.Record.State, gjson.Escape(member))
		return old.Exists() && old.Raw == gjson.GetBytes(c.Record.State, gjson.Escape(member)).Raw && !sameJSON(was.Record.State, c.Record.State)
	}
	return false
}

// milestones returns the numbers of the steps with a live milestone, ascending and each once.
func milestones(a *transfer.Archive) []json.RawMessage {
	var steps []int
	for _, c := range a.Checkpoints {
		if c.Live && c.Record.Milestone && c.Record.Step > 0 && !slices.Contains(steps, c.Record.Step) {
			steps = append(steps, c.Record.Step)
		}
	}
	slices.Sort(steps)
	return gather.List(steps, func(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) })
}

// write adds the document of a session.
func (l pipeline) write(a *transfer.Archive, w *rendering) {
	if c := current(a); c != nil {
		prd := l.id(a)
		w.single(a, c, pipelineHome, prd, "prd", "", func() json.RawMessage { return l.compose(a, c, prd) })
	}
}

// firstDigits matches a number inside a name.
var firstDigits = lazy.Pattern(`\d+`)

// id returns the PRD of a session: its name if that is one, the PRD in a state, or else one made of
// the last three digits of a number in the session's name or of a checksum.
func (pipeline) id(a *transfer.Archive) string {
	if pipelineID().MatchString(string(a.Session)) {
		return string(a.Session)
	}
	for _, c := range slices.Backward(a.Checkpoints) {
		if prd := text(gjson.ParseBytes(c.Record.State), "prd"); pipelineID().MatchString(prd) {
			return prd
		}
	}
	digits := "00" + cmp.Or(firstDigits().FindString(string(a.Session)), numberFor(string(a.Session), 1000))
	return "PRD-" + digits[len(digits)-3:]
}

// compose returns the document of a checkpoint that has no original: the state, with time and status brought up
// to date.
func (l pipeline) compose(a *transfer.Archive, c *transfer.Archived, prd string) json.RawMessage {
	doc := members(c.Record.State)
	renew(a, c, doc, "timestamp")
	doc.missing("prd", prd)
	doc.missing("status", "initialized")
	doc.missing("timestamp", seconds(c.Record.CreatedAt))
	return doc.json()
}
