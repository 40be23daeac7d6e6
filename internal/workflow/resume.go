package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Action is what resume does.
type Action string

// The actions, mildest first; the strictest answer wins.
const (
	ActionResume Action = "resume"
	ActionAsk    Action = "ask"
	ActionRefuse Action = "refuse"
)

// Situation is the checkpoint that work stands at.
type Situation struct {
	Session string
	// State, Status and Error of the checkpoint.
	State  json.RawMessage
	Status string
	Error  json.RawMessage
	// Place is where it stands; Live are the steps with a live milestone, in
	// order, Named says what they are called, Skipped are those done without.
	Place   Place
	Live    []int
	Named   func(step int) string // nil: nobody knows
	Skipped []int
	// Age is how long ago it was made.
	Age time.Duration
}

// ResumeInput is a situation and its surroundings.
type ResumeInput struct {
	Situation
	// Branch is the recorded branch; BranchGone when it does not exist any more.
	Branch     string
	BranchGone bool
	// Changed are the files that differ from the checkpoint.
	Changed []string
	// Missing are those of Files that do not exist.
	Missing []FileRef
	// Current is the issue as it is now, nil when nobody asked.
	Current json.RawMessage
}

// FileRef is a file that a state names.
type FileRef struct {
	// Member is where in the state, Path what stands there. The path is the
	// document's word: look whether it exists, never write to it.
	Member string `json:"member"`
	Path   string `json:"path"`
}

// Fraction is how much is done; Total is 0 when nobody knows.
type Fraction struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Resume says where work stopped and what stands in the way of going on.
type Resume struct {
	CanResume bool
	Action    Action
	// Message is a line for people, ProgressText another ("Phase 2 of 5").
	Message      string
	Progress     Fraction
	ProgressText string
	// ResumePoint is where work goes on, "" at the end.
	ResumePoint string
	// Completed and Pending are lists of whatever the workflow counts; Batches are
	// the pending ones in groups.
	Completed, Pending []json.RawMessage
	Batches            [][]json.RawMessage
	// Warnings do not stop anybody, Questions have to be answered with yes,
	// Refusals cannot be answered.
	Warnings, Questions, Refusals []string
	// Restore is what has to be taken over, by name.
	Restore map[string]json.RawMessage
	// State is the state that work goes on with.
	State json.RawMessage
}

// Files lists the files that the state names and that must exist.
func (d *Definition) Files(state json.RawMessage) []FileRef {
	var found []FileRef
	for _, path := range d.Resumption.Files {
		found = filesIn(found, path, value(rawAt(state, path)))
	}
	return found
}

const maxFiles = 1000

func filesIn(found []FileRef, path string, v any) []FileRef {
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
			found = filesIn(found, at(path, i), item)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			found = filesIn(found, join(path, name), v[name])
		}
	}
	return found
}

// Resume evaluates the definition's rules for going on. All checks are made; the
// strictest answer wins. What the state lacks is left out, never a failure.
func (d *Definition) Resume(in ResumeInput) Resume {
	e := d.newEvaluation(in.Situation, in.Current, "")
	e.vars["branch"], e.vars["files"] = in.Branch, plain(in.Changed)
	r := &d.Resumption
	out := Resume{Action: ActionResume, State: in.State, Restore: map[string]json.RawMessage{}}
	out.Completed, out.Pending = raws(e.vars["completed"]), raws(e.vars["pending"])
	out.Progress, out.ProgressText = e.progress, e.progressText
	for _, batch := range asItems(e.value(r.Batches)) {
		out.Batches = append(out.Batches, raws(batch))
	}
	for name, path := range r.Restore {
		if raw := rawAt(in.State, path); raw != nil {
			out.Restore[name] = raw
		}
	}
	answer := d.answer(in.Status)
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
	d.conditions(e, &out)
	d.freshness(in, &out)
	for _, file := range in.Missing {
		out.warn(fmt.Sprintf("missing: %s (%s)", file.Path, file.Member))
	}
	out.CanResume = out.Action != ActionRefuse
	return out
}

// conditions asks what the state itself says about going on.
func (d *Definition) conditions(e *evaluation, out *Resume) {
	r := &d.Resumption
	for _, warning := range asItems(e.value(r.Warnings)) {
		out.warn(say(warning))
	}
	can, err := d.holds(e.meter, resumeScope(), r.CanResume, e.vars)
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

// unmet reads prerequisites: a boolean, an object of booleans, or a list of
// objects with a name and met.
func unmet(v any) (names []string, some bool) {
	switch v := v.(type) {
	case bool:
		return nil, !v
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if v[name] == false {
				names = append(names, name)
			}
		}
	case []any:
		for _, item := range v {
			if object, ok := item.(map[string]any); ok && object["met"] == false {
				names = append(names, say(object["name"]))
			}
		}
	}
	return names, len(names) > 0
}

func (r *Resume) warn(text string) {
	if text != "" && !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

func (r *Resume) ask(text string) {
	r.Questions = append(r.Questions, text)
	if r.Action == ActionResume {
		r.Action = ActionAsk
	}
}

func (r *Resume) refuse(text string) {
	if text == "" {
		text = "the workflow does not go on from here"
	}
	r.Refusals = append(r.Refusals, text)
	r.Action = ActionRefuse
}

// answer is the definition's entry for a status.
func (d *Definition) answer(status string) Answer {
	if a, ok := d.Resumption.Statuses[status]; ok {
		return a
	}
	return d.Resumption.Statuses[anyOther]
}

// NextAction says what comes next at this status, "" when the workflow says
// nothing.
func (d *Definition) NextAction(s Situation) string {
	source, ok := d.NextActions[s.Status]
	if !ok {
		source = d.NextActions[anyOther]
	}
	if source == "" {
		return ""
	}
	return tidy(d.newEvaluation(s, nil, source).fill(source))
}
