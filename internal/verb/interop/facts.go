package interop

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// facts is a checkpoint in terms that all five systems have in common. When a session of one
// workflow is written in the layout of another, the state is first converted to facts (the methods
// of*), and the writer of the layout then takes from the facts what it has a place for.
//
// use marks the members of the state that a conversion understands. leave reports the others, and
// the facts that the layout has no place for, so that nothing is lost silently.
type facts struct {
	topic     string
	iteration int
	metrics   json.RawMessage
	// Tasks are JSON objects with an id. lost are those that failed.
	completed, underWay, pending, lost []json.RawMessage
	decisions                          []json.RawMessage
	created, modified, deleted, staged []string
	branch, commit                     string
	worktrees                          []string
	status                             string
	// problem is the error of the checkpoint, nil if there is none. total is the number of phases,
	// 0 if it is not known.
	problem                   json.RawMessage
	total                     int
	phases                    []json.RawMessage
	gatesPassed, gatesPending []string
	canResume                 bool
	resumeFrom                string
	warnings                  []string
	artifacts                 json.RawMessage

	state gjson.Result
	// used has the paths of the members of state that were taken.
	used map[string]bool
}

// factsOf converts a checkpoint of any workflow to facts. What every record has (files, branch,
// iteration) comes from the record; the rest depends on the state of the workflow. A workflow that
// is none of the five is treated like go-team, which has only common members.
func factsOf(a *transfer.Archive, c *transfer.Archived) *facts {
	r := c.Record
	f := &facts{
		topic: cmp.Or(r.Topic, a.Topic), status: r.Status, problem: r.Error, commit: string(r.Git.Head), branch: shortRef(string(r.Git.Branch)),
		metrics: json.RawMessage("{}"), canResume: true, state: gjson.ParseBytes(r.State), used: map[string]bool{},
	}
	f.staged, f.created = create.FromPaths(r.Git.Staged), create.FromPaths(r.Files.Created)
	f.modified, f.deleted = create.FromPaths(r.Files.Modified), create.FromPaths(r.Files.Deleted)
	for _, w := range r.Git.Worktrees {
		f.worktrees = append(f.worktrees, string(w.Name))
	}
	if n, err := strconv.Atoi(r.Iteration); err == nil {
		f.iteration = n
	}
	switch a.Workflow {
	case UltraCreate:
		f.ofUltra()
	case Orchestrate:
		f.ofOrchestrate()
	case Crunch:
		f.ofCrunch()
	case Pipeline:
		f.ofPipeline()
	default:
		f.ofGoTeam()
	}
	return f
}

// shortRef returns the name of a branch without refs/heads/.
func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// use returns a member of the state and marks it as used.
func (f *facts) use(p string) gjson.Result {
	v := f.state.Get(p)
	if v.Exists() {
		f.used[p] = true
	}
	return v
}

// leave reports the parts of a checkpoint that a layout cannot represent. takes names the facts
// that it can. The layout of the session's own workflow has the state as a whole.
func (f *facts) leave(a *transfer.Archive, c *transfer.Archived, w *rendering, takes ...string) {
	if a.Workflow == w.format {
		return
	}
	var lost []string
	f.state.ForEach(func(key, value gjson.Result) bool {
		lost = append(lost, f.unused(key.String(), value)...)
		return true
	})
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"tasks", len(f.completed)+len(f.underWay)+len(f.pending)+len(f.lost) > 0}, {"decisions", len(f.decisions) > 0},
		{"gates", len(f.gatesPassed)+len(f.gatesPending) > 0}, {"error", f.problem != nil}, {"artifacts", f.artifacts != nil},
		{"metrics", !slices.Contains([]string{"", "{}", "null"}, string(f.metrics))}, {"recovery", f.resumeFrom != "" || len(f.warnings) > 0},
	} {
		if part.there && !slices.Contains(takes, part.name) {
			lost = append(lost, part.name)
		}
	}
	if len(lost) > 0 {
		w.leave(a, c, "%s", strings.Join(lost, ", "))
	}
}

// unused returns the paths of a member that were not taken: the member as a whole, or, if some of
// its members were taken, the rest of them. Empty values are not worth reporting.
func (f *facts) unused(at string, v gjson.Result) []string {
	if f.used[at] || v.Type == gjson.Null || isEmpty(v) {
		return nil
	}
	below := false
	for p := range f.used {
		below = below || strings.HasPrefix(p, at+".")
	}
	if !below || !v.IsObject() {
		return []string{at}
	}
	var out []string
	v.ForEach(func(key, value gjson.Result) bool {
		out = append(out, f.unused(at+"."+key.String(), value)...)
		return true
	})
	return out
}

// ofGoTeam converts the members that go-team's states have.
func (f *facts) ofGoTeam() {
	f.topic = cmp.Or(f.use("topic").String(), f.topic)
	f.use("phase")
	f.use("current_step")
	if n := whole(f.use("iteration_count")); n != nil {
		f.iteration = *n
	}
	if m := f.use("metrics"); m.IsObject() {
		f.metrics = json.RawMessage(m.Raw)
	}
}

// ofUltra converts a state of ultra-create. Facts from the record take precedence over the
// git_state in the document.
func (f *facts) ofUltra() {
	f.completed, f.pending, f.lost = rawList(f.use("completed_tasks")), rawList(f.use("pending_tasks")), rawList(f.use("failed_tasks"))
	f.decisions = rawList(f.use("decisions"))
	if m := f.use("metrics"); m.IsObject() {
		f.metrics = json.RawMessage(m.Raw)
	}
	for _, v := range f.use("files_created").Array() {
		if p := text(v, "path"); p != "" && !slices.Contains(f.created, p) && !slices.Contains(f.modified, p) {
			f.created = append(f.created, p)
		}
	}
	f.branch = cmp.Or(f.branch, f.use("git_state.branch").String())
	f.commit = cmp.Or(f.commit, f.use("git_state.commit").String())
	if list := texts(f.use("git_state.worktrees")); len(f.worktrees) == 0 {
		f.worktrees = list
	}
}

// ofOrchestrate converts a state of orchestrate. Its phases become tasks; phases that are not
// completed are pending.
func (f *facts) ofOrchestrate() {
	f.topic = cmp.Or(f.use("workflow_description").String(), f.topic)
	for _, p := range []string{"checkpoint_id", "workflow_type", "created_at", "updated_at", "status", "current_phase", "workflow_state.project_name"} {
		f.use(p)
	}
	f.phases = rawList(f.use("completed_phases"))
	if n := whole(f.use("total_phases")); n != nil {
		f.total = *n
	}
	var done, open []string
	for _, p := range f.phases {
		done = append(done, "phase_"+string(p))
	}
	// The limit is for a total_phases that is absurdly large: the document is untrusted.
	for n := 1; n <= f.total && n < 1000; n++ {
		if phase := "phase_" + strconv.Itoa(n); !slices.Contains(done, phase) {
			open = append(open, phase)
		}
	}
	f.completed, f.pending = tasks(done), tasks(open)
	if e := f.use("last_error"); e.Exists() && e.Type != gjson.Null {
		f.problem = json.RawMessage(e.Raw)
	}
}

// ofCrunch converts a state of crunch. The nodes of its execution graph become tasks, sorted by the
// many words that documents use for a status.
func (f *facts) ofCrunch() {
	f.topic = cmp.Or(f.use("issue_snapshot.title").String(), f.topic)
	f.branch = cmp.Or(f.branch, f.use("issue_snapshot.branch").String())
	for _, p := range []string{"checkpoint_id", "version", "created_at", "issue_number", "trigger", "workflow_state.current_phase"} {
		f.use(p)
	}
	f.use("execution_graph.node_states").ForEach(func(key, v gjson.Result) bool {
		node := members(json.RawMessage(v.Raw))
		if !v.IsObject() {
			node = objectOf("status", v.String()) // it is its status alone
		}
		o := objectOf("id", key.String())
		for _, m := range node.names {
			o.raw(m, node.values[m])
		}
		switch textOf(node.values["status"]) {
		case "complete", "completed", "done", "success", "succeeded", "skipped":
			f.completed = append(f.completed, o.json())
		case "failed", "error":
			f.lost = append(f.lost, o.json())
		case "in_progress", "running", "active":
			f.underWay = append(f.underWay, o.json())
		default:
			f.pending = append(f.pending, o.json())
		}
		return true
	})
	f.use("files_modified")
	if v := f.use("recovery_info.can_resume"); v.Type == gjson.False {
		f.canResume = false
	}
	f.resumeFrom = f.use("recovery_info.resume_from").String()
	f.warnings = texts(f.use("recovery_info.warnings"))
}

// ofPipeline converts a state of pipeline. Its workstreams become tasks.
func (f *facts) ofPipeline() {
	f.topic = cmp.Or(f.use("prd_title").String(), f.topic)
	for _, p := range []string{"prd", "current_phase", "status", "timestamp"} {
		f.use(p)
	}
	f.completed, f.underWay = tasks(texts(f.use("completed_workstreams"))), tasks(texts(f.use("in_progress_workstreams")))
	f.pending = tasks(texts(f.use("pending_workstreams")))
	f.gatesPassed, f.gatesPending = texts(f.use("gates_passed")), texts(f.use("gates_pending"))
	if v := f.use("artifacts"); v.IsObject() && v.Raw != "{}" {
		f.artifacts = json.RawMessage(v.Raw)
	}
	if e := f.use("error"); e.Exists() && e.Type != gjson.Null {
		f.problem = json.RawMessage(e.Raw)
	}
}

// tasks returns tasks with nothing but an id.
func tasks(ids []string) (out []json.RawMessage) {
	for _, id := range ids {
		out = append(out, objectOf("id", id).json())
	}
	return out
}

// taskIDs returns the ids of tasks, each once.
func taskIDs(tasks []json.RawMessage) []string {
	var out []string
	for _, t := range tasks {
		if id := text(gjson.ParseBytes(t), "id"); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// keyOf returns the name that go-team's manifest uses for a checkpoint: the key under which it was
// imported, or else its label. For a checkpoint that does not exist any more, label is used.
func keyOf(a *transfer.Archive, id name.ID, label string) string {
	for _, c := range a.Checkpoints {
		if c.Record.ID != id {
			continue
		}
		if c.Import != nil && c.Import.Format == GoTeam && !c.Import.Here && safeName(c.Import.Key) {
			return c.Import.Key
		}
		return c.Record.Label
	}
	for _, d := range a.Damaged {
		if d.ID == id && d.Key != "" && safeName(d.Key) {
			return d.Key
		} else if d.ID == id {
			return d.Label
		}
	}
	return path.Base(label)
}
