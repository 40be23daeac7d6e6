package interop

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/transfer"
)

// single writes the one document of a session in a layout that updates it in place, and
// names the checkpoints that came before it.
func (w *rendering) single(a *transfer.Archive, c *transfer.Archived, f file) {
	if !w.place(a, c, f) {
		return
	}
	for i := range a.Checkpoints {
		if other := &a.Checkpoints[i]; other != c {
			w.leave(a, other, "the layout has one document for the session, %s", f.path)
		}
	}
}

func (o orchestrate) write(a *transfer.Archive, w *rendering) {
	c := current(a)
	if c == nil {
		return
	}
	closed := a.Status == "failed" || a.Status == "abandoned"
	f := file{made: c}
	id := o.id(a)
	if text, ok := w.original(c, keptDocument); ok {
		f.content, f.made, f.key = text, nil, c.Import.Key
		closed = strings.HasPrefix(c.Import.Path, orchestrateHome+"/"+orchestrateFailed+"/") && (closed || !a.Touched)
		if name, ok := base(c.Import); ok {
			id = name
		}
	} else {
		f.doc = o.compose(a, c, id, w)
		f.content, f.key = indented(f.doc), id
	}
	dir := orchestrateHome
	if closed {
		dir = path.Join(orchestrateHome, orchestrateFailed)
	}
	f.path = path.Join(dir, id+".json")
	w.single(a, c, f)
}

// id is that of the first checkpoint: the session's name where it is one, else what a
// document says, else made of the session.
func (orchestrate) id(a *transfer.Archive) string {
	for i := range a.Checkpoints {
		if im := a.Checkpoints[i].Import; im != nil && im.Format == Orchestrate {
			if name, ok := base(im); ok {
				return name
			}
		}
	}
	if orchestrateID().MatchString(string(a.Session)) {
		return string(a.Session)
	}
	if a.Workflow == Orchestrate {
		for i := range a.Checkpoints {
			if id := text(gjson.ParseBytes(a.Checkpoints[i].Record.State), "checkpoint_id"); safeName(id) {
				return id
			}
		}
	}
	kind, project := Orchestrate, string(a.Session)
	for _, k := range []string{"implement", "test-all", Orchestrate} {
		if rest, ok := strings.CutPrefix(project, k+"_"); ok {
			kind, project = k, rest
		}
	}
	return kind + "_" + snake(project) + "_" + a.CreatedAt.UTC().Format("20060102_150405")
}

// snake is a name in lower case with underscores.
func snake(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(s))
	if s = strings.Trim(s, "_"); s == "" {
		return "project"
	}
	return s
}

// compose is the state itself in a session of orchestrate.
func (o orchestrate) compose(a *transfer.Archive, c *transfer.Archived, id string, w *rendering) json.RawMessage {
	f := learn(a, c)
	doc := &object{}
	if a.Workflow == Orchestrate {
		doc = members(c.Record.State)
		f.useAll()
		o.renew(a, c, doc)
	}
	kind, project, _ := strings.Cut(id, "_")
	doc.missing("checkpoint_id", id)
	doc.missing("workflow_type", kind)
	doc.missing("workflow_description", f.topic)
	doc.missing("created_at", seconds(a.CreatedAt))
	doc.missing("updated_at", seconds(c.Record.CreatedAt))
	doc.missing("status", orchestrateStatus(f.status))
	steps := milestones(a)
	if f.total > 0 || len(f.phases) > 0 {
		steps = f.phases
	}
	doc.missing("current_phase", c.Record.Step)
	if f.total > 0 || a.Workflow != Orchestrate {
		doc.missing("total_phases", max(f.total, c.Record.Step, len(steps)))
	}
	doc.missing("completed_phases", steps)
	state := &object{}
	if len(project) > 16 {
		project = project[:len(project)-16]
	}
	state.set("project_name", project)
	artifacts := &object{}
	for _, name := range sortedKeys(c.Outputs) {
		if source := string(c.Record.Outputs[name].Source); source != "" && c.Import == nil {
			artifacts.set(name, source)
		} else {
			w.leave(a, c, "output %s", name)
		}
	}
	state.set("artifact_registry", artifacts)
	doc.missing("workflow_state", state)
	doc.missing("last_error", f.problem)
	if a.Workflow != Orchestrate {
		f.leave(a, c, w, "error", "topic")
	}
	return doc.json()
}

// renew brings what a state carried on from the checkpoint before up to date: when it was
// made, and how it stands.
func (orchestrate) renew(a *transfer.Archive, c *transfer.Archived, doc *object) {
	if carried(a, c, "updated_at") {
		doc.set("updated_at", seconds(c.Record.CreatedAt))
	}
	if status := text(gjson.ParseBytes(c.Record.State), "status"); status != c.Record.Status && c.Record.Status != "" {
		doc.set("status", c.Record.Status)
	}
}

// carried reports whether a member of a state that changed is still that of the one
// before.
func carried(a *transfer.Archive, c *transfer.Archived, member string) bool {
	for i := range a.Checkpoints {
		was := &a.Checkpoints[i]
		if was.Record.ID != c.Record.Previous {
			continue
		}
		old := gjson.GetBytes(was.Record.State, escape(member))
		return old.Exists() && old.Raw == gjson.GetBytes(c.Record.State, escape(member)).Raw && !sameJSON(was.Record.State, c.Record.State)
	}
	return false
}

func orchestrateStatus(status string) string {
	switch status {
	case "complete", "completed":
		return "completed"
	case "failed", "abandoned":
		return status
	}
	return "in_progress"
}

// milestones are the steps that are done, each once.
func milestones(a *transfer.Archive) []json.RawMessage {
	var steps []int
	for i := range a.Checkpoints {
		if c := &a.Checkpoints[i]; c.Live && c.Record.Milestone && c.Record.Step > 0 && !slices.Contains(steps, c.Record.Step) {
			steps = append(steps, c.Record.Step)
		}
	}
	slices.Sort(steps)
	out := []json.RawMessage{}
	for _, n := range steps {
		out = append(out, json.RawMessage(encodeInt(n)))
	}
	return out
}

func (l pipeline) write(a *transfer.Archive, w *rendering) {
	c := current(a)
	if c == nil {
		return
	}
	f := file{made: c}
	prd := l.id(a)
	name := prd
	if text, ok := w.original(c, keptDocument); ok {
		f.content, f.made, f.key = text, nil, c.Import.Key
		if file, ok := base(c.Import); ok {
			name = file
		}
	} else {
		f.doc = l.compose(a, c, prd, w)
		f.content, f.key = indented(f.doc), prd
	}
	f.path = path.Join(pipelineHome, name+".json")
	w.single(a, c, f)
}

var firstDigits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })

// id is the requirement of a session, or what stands for one.
func (pipeline) id(a *transfer.Archive) string {
	if pipelineID().MatchString(string(a.Session)) {
		return string(a.Session)
	}
	for i := len(a.Checkpoints) - 1; i >= 0 && a.Workflow == Pipeline; i-- {
		if prd := text(gjson.ParseBytes(a.Checkpoints[i].Record.State), "prd"); pipelineID().MatchString(prd) {
			return prd
		}
	}
	digits := firstDigits().FindString(string(a.Session))
	if digits == "" {
		digits = numberFor(string(a.Session), 1000)
	}
	for len(digits) < 3 {
		digits = "0" + digits
	}
	return "PRD-" + digits[len(digits)-3:]
}

// compose is the state itself in a session of pipeline.
func (l pipeline) compose(a *transfer.Archive, c *transfer.Archived, prd string, w *rendering) json.RawMessage {
	f := learn(a, c)
	doc := &object{}
	if a.Workflow == Pipeline {
		doc = members(c.Record.State)
		f.useAll()
		if carried(a, c, "timestamp") {
			doc.set("timestamp", seconds(c.Record.CreatedAt))
		}
		if c.Record.Status != "" && text(gjson.ParseBytes(c.Record.State), "status") != c.Record.Status {
			doc.set("status", c.Record.Status)
		}
		doc.missing("prd", prd)
		doc.missing("status", "initialized")
		doc.missing("timestamp", seconds(c.Record.CreatedAt))
		return doc.json()
	}
	doc.set("prd", prd)
	doc.set("prd_title", either(f.topic, string(a.Session)))
	doc.set("current_phase", c.Record.Step)
	status, underWay, pending := pipelineStatus(f)
	doc.set("status", status)
	doc.set("completed_workstreams", taskIDs(f.completed))
	doc.set("in_progress_workstreams", underWay)
	doc.set("pending_workstreams", pending)
	doc.raw("artifacts", json.RawMessage("{}"))
	doc.set("gates_passed", f.gatesPassed)
	doc.set("gates_pending", f.gatesPending)
	if status == "failed" {
		var e object
		e.set("workstream", first(pending, "unknown"))
		e.set("message", messageOf(f.problem))
		doc.set("error", &e)
	}
	doc.set("timestamp", seconds(c.Record.CreatedAt))
	for _, name := range sortedKeys(c.Outputs) {
		w.leave(a, c, "output %s", name)
	}
	f.leave(a, c, w, "tasks", "gates", "error", "topic")
	return doc.json()
}

// pipelineStatus fits a status and the tasks to pipeline's rules.
func pipelineStatus(f *facts) (status string, underWay, pending []string) {
	done := taskIDs(f.completed)
	open := func(tasks ...[]json.RawMessage) []string {
		return slices.DeleteFunc(taskIDs(slices.Concat(tasks...)), func(id string) bool { return slices.Contains(done, id) })
	}
	underWay = open(f.underWay)
	all := open(f.underWay, f.lost, f.pending)
	switch f.status {
	case "failed":
		return "failed", nil, all
	case "complete", "completed":
		if len(all) == 0 && len(f.gatesPending) == 0 {
			return "complete", nil, nil
		}
		return "paused", nil, all
	case "in_progress":
		if len(underWay) > 0 {
			return "in_progress", underWay, open(f.lost, f.pending)
		}
	}
	return "paused", nil, all
}

func first(list []string, otherwise string) string {
	if len(list) > 0 {
		return list[0]
	}
	return otherwise
}

// messageOf is the text of an error.
func messageOf(problem json.RawMessage) string {
	v := gjson.ParseBytes(problem)
	if v.Type == gjson.String {
		return v.Str
	}
	return either(text(v, "message", "error", "reason"), either(v.Raw, "unknown"))
}
