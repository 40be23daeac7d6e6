package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
)

// Action is what resume does: go on, ask first, or refuse.
type Action string

// The actions from mild to strict. When several checks answer, the strictest one wins.
const (
	ActionResume Action = "resume"
	ActionAsk    Action = "ask"
	ActionRefuse Action = "refuse"
)

// Situation is the checkpoint at which work stands.
type Situation struct {
	Session string
	// State, Status and Error are those of the checkpoint.
	State  json.RawMessage
	Status string
	Error  json.RawMessage
	// Former is the state of the newest checkpoint before it that had another status, nil if there is
	// none or the definition does not ask for it; see AsksFormer.
	Former json.RawMessage
	// Place is where the checkpoint stands. Live are the steps with a live milestone, in the order
	// in which the milestones were made. Named returns the name that a step was given. Skipped are
	// the steps that the user decided to do without.
	Place   Place
	Live    []int
	Named   func(step int) string // may be nil
	Skipped []int
	Highest int // the highest step that the session ever named, as in PlaceRequest
	// Branch is the recorded branch. Changed are the paths of files that differ from the checkpoint.
	Branch  string
	Changed []string
	// Resumed means that work was resumed from the checkpoint. After a failure that says that what
	// failed is fixed.
	Resumed bool
	Age     time.Duration // the time since the checkpoint was made
}

// ResumeInput is a situation together with what the caller found out about its surroundings.
type ResumeInput struct {
	Situation
	BranchGone bool            // means that the recorded branch does not exist any more
	Missing    []FileRef       // the results of Files that do not exist on disk
	Current    json.RawMessage // the issue as it is now, nil if the caller does not know it
}

// FileRef is a reference to a file in a state.
type FileRef struct {
	// Member is the path of the reference in the state, Path the file that it names. The path comes
	// from an untrusted document: check whether it exists, but never write to it.
	Member string `json:"member"`
	Path   string `json:"path"`
}

// Fraction is how much of the work is done. Total is 0 if it is unknown.
type Fraction struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Resume is the answer: where work stopped and what stands in the way of going on.
type Resume struct {
	// CanResume is false exactly if Action is ActionRefuse.
	CanResume bool
	Action    Action
	// Message is one line for people, ProgressText another such as "Phase 2 of 5".
	Message      string
	Progress     Fraction
	ProgressText string
	ResumePoint  string // where work goes on, "" at the end
	// Completed and Pending are the work items that the workflow counts. Batches are the pending
	// ones in groups. Steps is true if the completed ones are exactly the finished steps.
	Completed  Items
	Steps      bool
	Pending    []json.RawMessage
	Batches    [][]json.RawMessage
	BatchNames []string       // of each group: "batch 3", or "" if it is not known
	Titles     map[string]any // has the title of each work item that has one. The values are not validated
	// Warnings do not stop the work. Questions have to be answered with yes before work goes on.
	// Refusals cannot be overridden.
	Warnings, Questions, Refusals []string
	Restore                       map[string]json.RawMessage // has the members of the state that the next worker has to take over, by name
	// State is the state that work goes on with. It differs from the checkpoint's where members of
	// the issue changed and the workflow follows them.
	State json.RawMessage
}

// Files returns the files that the state names and that the workflow expects to exist.
func (d *Definition) Files(state json.RawMessage) []FileRef {
	var found []FileRef
	for _, path := range d.Resumption.Files {
		found = filesIn(found, path, value(rawAt(state, path)))
	}
	return found
}

// filesIn appends every non-empty text inside v to found.
func filesIn(found []FileRef, path string, v any) []FileRef {
	const maxFiles = 1000 // limits how many files a caller has to look for
	if len(found) >= maxFiles {
		return found
	}
	switch v := v.(type) {
	case string:
		if v != "" {
			found = append(found, FileRef{path, v})
		}
	case []any:
		for i, item := range v {
			found = filesIn(found, itemPath(path, i), item)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			found = filesIn(found, join(path, name), v[name])
		}
	}
	return found
}

// Pending returns the work items that are pending, as Resume does.
func (d *Definition) Pending(s Situation) []json.RawMessage {
	return raws(d.newEvaluation(s, nil, "").vars["pending"])
}

// Resume evaluates the definition's rules for going on. All checks are made and the strictest
// result determines the action. An expression that fails because the state lacks something leaves
// its part of the answer empty; only can_resume turns an error into a refusal.
func (d *Definition) Resume(in ResumeInput) Resume {
	e := d.newEvaluation(in.Situation, in.Current, "")
	r := &d.Resumption
	out := Resume{Action: ActionResume, State: in.State, Restore: map[string]json.RawMessage{}}
	out.Completed, out.Pending = asItems(e.vars["completed"]), raws(e.vars["pending"])
	out.Steps = r.Completed == "steps_done"
	done, total := e.vars["done"], e.vars["total"]
	out.Progress = Fraction{count(done), count(total)}
	if done != nil && total != nil {
		out.ProgressText = e.fill(r.Progress.Text)
	}
	for _, batch := range asItems(e.value(r.Batches)) {
		out.Batches = append(out.Batches, raws(batch))
		called := batchName(asItems(batch), e.value(r.Batch))
		if slices.Contains(out.BatchNames, called) { // tasks without a number beside those of the current batch
			called = ""
		}
		out.BatchNames = append(out.BatchNames, called)
	}
	out.Titles, _ = e.value(r.Titles).(map[string]any)
	answer := r.answer(d.standing(in.Situation))
	out.ResumePoint, _ = e.vars["point"].(string)
	out.Message = e.fill(answer.Message)
	out.warn(e.fill(answer.Warning))
	switch Action(answer.Action) {
	case ActionAsk:
		out.ask(e.fill(answer.Question))
	case ActionRefuse:
		out.refuse(e.fill(answer.Message))
	case ActionResume:
	}
	e.conditions(&out)
	r.Freshness.weigh(in, &out)
	for name, path := range r.Restore {
		if raw := rawAt(out.State, path); raw != nil {
			out.Restore[name] = raw
		}
	}
	for _, file := range in.Missing {
		out.warn(fmt.Sprintf("missing: %s (%s)", file.Path, file.Member))
	}
	out.CanResume = out.Action != ActionRefuse
	return out
}

// conditions evaluates what the state says about going on: warnings, can_resume and prerequisites.
func (e *evaluation) conditions(out *Resume) {
	r := &e.d.Resumption
	for _, warning := range asItems(e.value(r.Warnings)) {
		out.warn(say(warning))
	}
	can, err := e.holds(r.CanResume)
	if err != nil {
		out.refuse("can_resume: " + err.Error())
	} else if !can {
		out.refuse(e.fill(r.Refusal))
	}
	if unmet, ok := unmet(e.value(r.Prerequisites)); ok {
		said := "prerequisites are not met"
		if len(unmet) > 0 {
			said += ": " + strings.Join(unmet, ", ")
		}
		out.refuse(said)
	}
}

// unmet reads prerequisites: a boolean, an object of booleans, or a list of objects with `name` and
// `met`. It returns the names of those that are false; some is true if any is.
func unmet(v any) (names []string, some bool) {
	switch v := v.(type) {
	case bool:
		return nil, !v
	case map[string]any:
		names = append(names, gather.Those(sortedKeys(v), func(name string) bool { return v[name] == false })...)
	case []any:
		for _, item := range v {
			if object, ok := item.(map[string]any); ok && object["met"] == false {
				names = append(names, say(object["name"]))
			}
		}
	}
	return names, len(names) > 0
}

// warn adds a warning, once. An empty text is ignored, since most templates are absent.
func (r *Resume) warn(text string) {
	if text != "" && !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// ask adds a question and makes the action at least ActionAsk.
func (r *Resume) ask(text string) {
	r.Questions = append(r.Questions, text)
	if r.Action == ActionResume {
		r.Action = ActionAsk
	}
}

// refuse adds a refusal, which decides the action.
func (r *Resume) refuse(text string) {
	r.Refusals = append(r.Refusals, cmp.Or(text, "the workflow cannot continue from here"))
	r.Action = ActionRefuse
}

// Mended reports whether the checkpoint has a failure that somebody said is fixed.
func (d *Definition) Mended(s Situation) bool {
	return s.Resumed && (s.Status == "failed" || d.Statuses.Closes[s.Status] == "failed")
}

// standing returns the status whose entry tells what to do now.
func (d *Definition) standing(s Situation) string {
	if d.Mended(s) {
		return anyOther
	}
	return s.Status
}

// answer returns the entry for a status, or the one for any other status.
func (r *ResumeRules) answer(status string) Answer {
	if a, ok := r.Statuses[status]; ok {
		return a
	}
	return r.Statuses[anyOther]
}

// NextAction returns what comes next at this status, or "" if the workflow has no text for it.
func (d *Definition) NextAction(s Situation) string {
	source, ok := d.NextActions[d.standing(s)]
	if !ok {
		source = d.NextActions[anyOther]
	}
	if source == "" {
		return ""
	}
	return tidy(d.newEvaluation(s, nil, source).fill(source))
}

// weigh compares the surroundings with those at the checkpoint: the branch, the files, and the
// issue. It adds warnings, questions and refusals to out, and updates the state in out with members
// that follow.
func (f Freshness) weigh(in ResumeInput, out *Resume) {
	if in.BranchGone {
		out.changed(cmp.Or(f.Branch, freshWarn), fmt.Sprintf("branch %s is gone", in.Branch),
			"cannot resume; start afresh", "Continue without it?")
	}
	if len(in.Changed) > 0 {
		out.changed(cmp.Or(f.Files, freshWarn), "files changed since the checkpoint: "+someOf(in.Changed),
			"cannot resume with these changes", "Continue with them as they are?")
	}
	current := f.issue(in.Current)
	if current == nil {
		return
	}
	for _, member := range f.Issue {
		path := join(f.Snapshot, member.Member)
		was, is := gjson.GetBytes(in.State, path), gjson.GetBytes(current, member.Member)
		if !is.Exists() || equal(was, is, member.Unordered) {
			continue
		}
		out.changed(member.Changed, told(member.Member, was, is), "cannot resume; start afresh", "Continue with the checkpoint?")
		if member.Follow {
			out.follow(path, json.RawMessage(is.Raw))
			out.followMark(member.Mark, was, is)
		}
	}
}

// issue returns the issue as it is now, or nil if the caller has none. The caller's document may be
// the issue itself or a whole state with the issue at the path of the snapshot.
func (f Freshness) issue(document json.RawMessage) json.RawMessage {
	root := gjson.ParseBytes(document)
	if value(document) == nil || !root.IsObject() {
		return nil
	}
	if inside := get(root, f.Snapshot); inside.IsObject() {
		return json.RawMessage(inside.Raw)
	}
	return document
}

// changed records one change. answer is the reaction that the workflow gives for it.
func (r *Resume) changed(answer, what, refusal, question string) {
	switch answer {
	case freshRefuse:
		r.refuse(what + ": " + refusal)
	case freshAsk:
		r.ask(what + ". " + question)
	case freshWarn:
		r.warn(what)
	}
}

// follow writes a new value into the state that work goes on with. The value is raw text, so that
// numbers keep their digits.
func (r *Resume) follow(path string, text json.RawMessage) {
	state := r.State
	if len(state) == 0 {
		state = json.RawMessage("{}")
	}
	moved, err := sjson.SetRawBytes(append([]byte{}, state...), path, text)
	if err != nil {
		r.warn(fmt.Sprintf("%s stays as it was: %v", path, err))
		return
	}
	r.State = moved
}

// followMark updates the member at path, which holds one item of a list that changed. It does so
// only if that item was removed and there is a single new one: otherwise its successor is
// ambiguous.
func (r *Resume) followMark(path string, was, is gjson.Result) {
	if path == "" {
		return
	}
	gone, come := difference(was, is)
	if len(come) == 1 && set(gone)[identity(value(rawAt(r.State, path)))] {
		r.follow(path, encode(come[0]))
	}
}

// equal compares two JSON values, lists as sets if unordered.
func equal(was, is gjson.Result, unordered bool) bool {
	if unordered && isList(was) && isList(is) {
		gone, come := difference(was, is)
		return len(gone)+len(come) == 0
	}
	return identity(value(json.RawMessage(was.Raw))) == identity(value(json.RawMessage(is.Raw)))
}

// told describes a change of one member: a list by the items that were added and removed, anything
// else only by its name.
func told(member string, was, is gjson.Result) string {
	if !was.IsArray() || !is.IsArray() {
		return fmt.Sprintf("issue %s changed", member)
	}
	gone, come := difference(was, is)
	var parts []string
	if len(come) > 0 {
		parts = append(parts, "added "+joined(come, ", "))
	}
	if len(gone) > 0 {
		parts = append(parts, "removed "+joined(gone, ", "))
	}
	return fmt.Sprintf("issue %s changed: %s", member, strings.Join(parts, "; "))
}

// isList reports whether a value is a list, or is absent or null, which counts as an empty one.
func isList(v gjson.Result) bool { return v.IsArray() || v.Type == gjson.Null }

// difference returns the items that are only in the first list and those that are only in the second.
func difference(was, is gjson.Result) (gone, come []any) {
	before, _ := value(json.RawMessage(was.Raw)).([]any)
	after, _ := value(json.RawMessage(is.Raw)).([]any)
	return missing(before, after), missing(after, before)
}

// someOf lists the first ten names and the number of the others.
func someOf(names []string) string {
	return strings.Join(render.First(names, 10, "and %d more", func(name string) string { return shorten(name, 200) }), ", ")
}
