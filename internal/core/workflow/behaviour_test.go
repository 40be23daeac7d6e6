package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// behaviour asks a definition, which is a variant of the built-in one with the given name, every
// kind of question. It reports the answers line by line, until the consumer stops.
type behaviour struct {
	t    *testing.T
	d    *Definition
	name string
	a    Accepted // the workflow's own document, as the original takes it
	soon string   // the part of a path that is asked about first
	hear func(line string) bool
}

func (b *behaviour) tell(format string, args ...any) bool {
	return b.hear(fmt.Sprintf(format, args...))
}

// subjects are the groups of questions, keyed by the member of a definition that affects them most.
func subjects() map[string]func(*behaviour) bool {
	return map[string]func(*behaviour) bool{
		"document": (*behaviour).documents, "steps": (*behaviour).places, "triggers": (*behaviour).triggers, "statuses": (*behaviour).statuses,
		"derive": (*behaviour).derived, "resume": (*behaviour).resumes, "freshness": (*behaviour).freshness, "retention": (*behaviour).retention,
		"rest": (*behaviour).rest, "state": (*behaviour).states,
	}
}

// ask gives the answers about a subject.
func ask(t *testing.T, d *Definition, name, subject, soon string) iter.Seq[string] {
	t.Helper()
	a := Accepted{State: json.RawMessage(`{"metrics": {"n": 1}}`)}
	if original, ok := Builtin(name); ok && hasDocuments(name) {
		a = accepted(t, original, name)
	}
	return func(yield func(string) bool) {
		subjects()[subject](&behaviour{t: t, d: d, name: name, a: a, soon: soon, hear: yield})
	}
}

// hasDocuments reports whether a workflow has documents of a system that it comes from.
func hasDocuments(name string) bool { return name != DefaultName && name != "agent" }

// documents asks how documents are accepted: whole records, bare states, and empty ones.
func (b *behaviour) documents() bool {
	texts := []string{`{}`, `{"state": {}}`, `{"checkpoint": {"state": {}}}`, string(b.a.State)}
	if hasDocuments(b.name) {
		texts = append(texts, string(sample(b.t, b.name)))
	}
	for _, member := range strings.Fields("id checkpoint_id step step_number step_name phase current_step current_phase timestamp created_at updated_at " +
		"metrics outputs topic status trigger error last_error decisions project_id iteration_count workflow_type workflow_description prd prd_title") {
		for _, v := range []string{`"2026-03-01T08:15:00Z"`, `2`, `{"n": 1}`, `"testing"`} {
			texts = append(texts, fmt.Sprintf(`{%q: %s, "state": {}}`, member, v), fmt.Sprintf(`{"state": {%q: %s}}`, member, v))
		}
	}
	for i, text := range texts {
		a, err := b.d.Accept(json.RawMessage(text))
		stepped := -1
		if a.Step != nil {
			stepped = *a.Step
		}
		f := a.Facts
		f.Step = nil
		if !b.tell("document %d: %v %d %+v %s %s in %q as %q", i, err, stepped, f, a.State, a.Record, b.d.SessionOf(a), b.d.CheckpointOf(a)) {
			return false
		}
	}
	return b.belongs()
}

// belongs asks which documents are recognized, with each list of session.known_by complete and with
// one of its members missing, and which sessions are reserved for a document.
func (b *behaviour) belongs() bool {
	whole, _ := Builtin(b.name)
	for i, list := range whole.Session.KnownBy {
		for without := -1; without < len(list); without++ {
			document := []byte("{}")
			for j, member := range list {
				if j != without {
					document, _ = sjson.SetBytes(document, member, "x") //nolint:errcheck // a definition's paths are plain
				}
			}
			if !b.tell("list %d without %d: %v", i, without, b.d.Knows(document)) {
				return false
			}
		}
	}
	for _, session := range strings.Fields("kiosk issue-42 PRD-009 proj_kiosk implement_a_20261120_090000 7b0c1c9e-1d2f-4f55-9a52-0e6f3f3f8a11") {
		if !b.tell("%s is a document's: %v", session, b.d.NamesDocument(session)) {
			return false
		}
	}
	return b.tell("it knows documents: %v", b.d.KnowsDocuments())
}

// places asks for the step of a checkpoint by every trigger.
func (b *behaviour) places() bool {
	facts := b.a.Facts
	for _, trigger := range append(b.d.TriggerNames(), "nightly") {
		for i, r := range []PlaceRequest{
			{}, {Last: step(1), Milestones: milestones(map[int][]string{1: {""}}, nil)}, {Last: step(9)}, {Step: step(0)}, {Step: step(6)}, {Step: step(6), Milestones: milestones(map[int][]string{6: {""}}, nil)},
			{Step: step(12)}, {Name: "review"}, {Name: "docs"}, {State: b.a.State}, {Document: &facts, State: b.a.State},
			{Document: &facts, State: b.a.State, Milestones: milestones(map[int][]string{1: {""}, 2: {""}, 3: {""}, 6: {"1"}}, nil), Last: step(6)},
			{State: b.a.State, Milestones: milestones(map[int][]string{1: {""}, 2: {""}, 3: {""}, 6: {"1"}}, nil), Last: step(3)},
		} {
			r.Trigger = trigger
			place, err := b.d.Place(r)
			if !b.tell("place %s %d: %+v %v", trigger, i, place, err) {
				return false
			}
		}
	}
	for n := range 12 {
		next, ok := b.d.Steps.Next(step(n), []int{4}, -1)
		previous, has := b.d.Steps.Previous(n)
		order := b.d.CheckOrder(Change{Trigger: "manual", Place: Place{Step: n, Milestone: true}, Live: []int{2}, Skipped: []int{6}})
		if !b.tell("around step %d: %+v %v, %d %v, %v", n, next, ok, previous, has, order) {
			return false
		}
	}
	first, ok := b.d.Steps.Next(nil, nil, -1)
	return b.tell("first: %+v %v, branch %q", first, ok, b.d.Branch("s"))
}

// triggers under configuration.
func (b *behaviour) triggers() bool {
	for _, trigger := range append(b.d.TriggerNames(), "nightly") {
		for i, c := range []Config{nil, config("checkpoint.conflict_events.enabled", "false"), config("checkpoint."+trigger+".enabled", "true")} {
			off, err := b.d.SwitchedOff(trigger, c)
			is, _ := b.d.trigger(trigger)
			keep, _, _ := b.d.Retention.limit(trigger, c)
			if !b.tell("trigger %s %d: %v %v %v %+v %v", trigger, i, off, is.Milestone, is.Exempt, keep, err) {
				return false
			}
		}
	}
	return true
}

const statusesAsked = "initialized in_progress paused complete completed failed abandoned green"

// statuses and what may follow what.
func (b *behaviour) statuses() bool {
	for _, from := range append(strings.Fields(statusesAsked), "") {
		for _, to := range strings.Fields(statusesAsked) {
			if !b.tell("%s → %s: %v", from, to, b.d.checkStatus(Change{Old: b.a.State, New: b.a.State, OldStatus: from, NewStatus: to})) {
				return false
			}
		}
	}
	return b.tell("initially %s, ends a pause %v, blocks %v, commits %v", b.d.Statuses.Initial, b.d.EndsPause(), b.d.Blocks(), b.d.CommitsSteps())
}

// derived members of the state, carried on, given, and of nothing.
func (b *behaviour) derived() bool {
	at := func(s int64) time.Time { return time.Unix(1_000_000+s, 0) }
	place := Place{Step: 6, Name: "review", Milestone: true}
	bare := json.RawMessage(`{"metrics": {}}`)
	tasks := json.RawMessage(`{"completed_tasks": [], "pending_tasks": [{"id": "a"}]}`)
	failed := json.RawMessage(`{"failed_tasks": [{"id": "a"}]}`)
	carried := json.RawMessage(`{"current_step": 2, "phase": "x"}`)
	for i, c := range []Change{
		{New: b.a.State, Started: at(0), Now: at(270), Place: place}, {Old: b.a.State, New: b.a.State, Started: at(0), Now: at(99)},
		{New: bare, Started: at(0), Now: at(9), Place: place}, {New: tasks, Started: at(0), Now: at(60)}, {New: tasks, Now: at(60)},
		{New: failed, Started: at(0), Now: at(60)}, {Old: carried, New: carried, Place: place}, {Old: carried, New: carried, Place: Place{Step: 6}},
	} {
		c.Trigger = TriggerManual
		state, err := b.d.Derive(c, nil)
		if !b.tell("derived %d: %s %v", i, state, err) {
			return false
		}
	}
	return true
}

func (b *behaviour) far(path string) int {
	if b.soon != "" && slices.Contains(strings.Split(path, "."), b.soon) {
		return 0
	}
	return 1
}

// states that are checked: each member with a wrong value, with nothing, and without it,
// and the changes of states that rules are about.
func (b *behaviour) states() bool {
	check := func(about string, c Change) bool {
		found := []string{}
		for _, v := range b.d.Check(c) {
			found = append(found, v.String())
		}
		slices.Sort(found)
		return b.tell("%s: %s", about, strings.Join(found, " | "))
	}
	state := func(about string, s json.RawMessage, err error) bool {
		if err != nil {
			b.t.Fatal(err)
		}
		return check(about, Change{New: s, NewStatus: b.d.Statuses.Initial, Trigger: TriggerManual, Place: Place{Step: 1, Milestone: true}})
	}
	if b.name == "pipeline" {
		cases := pipelineCases()
		for _, about := range sortedKeys(cases) {
			if !check(about, cases[about].change(b.t)) {
				return false
			}
		}
	}
	wrongs := wrong()[b.name]
	paths := sortedKeys(wrongs)
	slices.SortStableFunc(paths, func(x, y string) int { return b.far(x) - b.far(y) })
	for _, path := range paths {
		bad, err := sjson.SetBytes(b.a.State, path, wrongs[path])
		if !state("wrong "+path, bad, err) {
			return false
		}
		for _, other := range []string{`null`, `{}`, `[]`, `3`, `"x"`, `["x"]`, `[{}]`, `{"x": {"y": {}}}`, `true`} {
			with, err := sjson.SetRawBytes(b.a.State, path, []byte(other))
			if !state(path+" = "+other, with, err) {
				return false
			}
		}
		without, err := sjson.DeleteBytes(b.a.State, path)
		if !state("without "+path, without, err) {
			return false
		}
	}
	return true
}

func said(r Resume) string {
	return fmt.Sprintf("%v %s %q %+v %q at %q, completed %s, pending %s, batches %s, warns %q, asks %q, refuses %q, restores %s, state %s",
		r.CanResume, r.Action, r.Message, r.Progress, r.ProgressText, r.ResumePoint, r.Completed.Last(99), r.Pending, r.Batches, r.Warnings, r.Questions, r.Refusals, r.Restore, r.State)
}

// situations are states that work may stand at.
func (b *behaviour) situations() []json.RawMessage {
	out := []json.RawMessage{b.a.State, json.RawMessage(`{}`)}
	for path, v := range map[string]string{
		"recovery_info.can_resume": `false`, "recovery_info.prerequisites_met": `{"db": false}`, "recovery_info": `{"warnings": ["w"]}`,
		"execution_graph": `{"node_states": {"a": {"status": "skipped"}, "b": {"status": "done"}, "c": {"status": "success"}, "d": {"status": "succeeded"}, "e": {"status": "complete"}, "f": {}}}`,
		"phases":          `null`, "titles": `null`, "completed_phases": `[1,2,3,4,5]`, "total_phases": `null`, "completed_tasks": `[]`, "pending_tasks": `[]`,
		"in_progress_workstreams": `["WS2"]`, "gates_passed": `[]`, "completed_workstreams": `["WS1","WS2","WS3"]`, "error": `{"workstream": "WS2", "message": "m"}`,
		"last_error": `{"message": "late"}`, "metrics": `{}`, "metrics.tasks_total": `9`, "metrics.tasks_completed": `7`, "current_phase": `4`,
	} {
		if s, err := sjson.SetRawBytes(b.a.State, path, []byte(v)); err == nil && gjson.ValidBytes(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
	return out
}

// resumes and the next action, at every status of every situation.
func (b *behaviour) resumes() bool {
	for i, state := range b.situations() {
		for _, status := range strings.Fields(statusesAsked) {
			for _, last := range []int{2, 9} {
				s := Situation{Session: "s", State: state, Status: status, Error: json.RawMessage(`"boom"`), Live: []int{1, last}, Place: Place{Step: last, Name: "x"}}
				if !b.tell("resume %d %s %d: %s; next %q; files %v", i, status, last, said(b.d.Resume(ResumeInput{Situation: s})), b.d.NextAction(s), b.d.Files(state)) {
					return false
				}
			}
		}
	}
	return true
}

// freshness of what is around a checkpoint.
func (b *behaviour) freshness() bool {
	issue := gjson.GetBytes(b.a.State, "issue_snapshot").Raw
	for i, change := range []func(*ResumeInput){
		func(in *ResumeInput) { in.Branch, in.BranchGone = "refs/heads/b", true },
		func(in *ResumeInput) { in.Changed = []string{"a"} },
		func(in *ResumeInput) { in.Missing = []FileRef{{"m", "p"}} },
		func(in *ResumeInput) {
			in.Current = json.RawMessage(`{"labels": ["state:docs"], "body": "b", "title": "t"}`)
		},
		func(in *ResumeInput) { in.Current = json.RawMessage(`{"labels": ["bug", "state:docs"]}`) },
		func(in *ResumeInput) {
			in.Current = edited(b.t, issue, edit{"labels": []string{"bug", "state:implementing"}})
		},
	} {
		in := ResumeInput{Situation: Situation{Session: "s", State: b.a.State, Status: "in_progress"}}
		if change(&in); in.Current == nil && i > 4 {
			continue
		}
		if !b.tell("fresh %d: %s", i, said(b.d.Resume(in))) {
			return false
		}
	}
	return true
}

// retention over everything that may be there.
func (b *behaviour) retention() bool {
	words := ""
	for range 4 {
		for _, trigger := range b.d.TriggerNames() {
			words += fmt.Sprintf("%s@1 %s@2 ", trigger, trigger)
		}
	}
	list := items(words + "manual-@1 manual!@1 manual*@2")
	for _, status := range append(strings.Fields(statusesAsked), "") {
		for _, age := range []time.Duration{6 * day, 8 * day, 29 * day, 33 * day, 100 * day} {
			for _, p := range []Policy{{SessionStatus: status}, {Status: status}} {
				p.Now, p.ChangedAt = epoch.Add(age), epoch
				if !b.tell("after %v %s: %s", age, status, gone(b.t, b.d, list, p)) {
					return false
				}
			}
		}
	}
	return true
}

// rest is how lists are compared, configuration is translated and things are said.
func (b *behaviour) rest() bool {
	for _, list := range strings.Fields("completed_tasks pending_tasks failed_tasks files_created decisions team_state.members files_modified") {
		if !b.tell("%s by %q", list, b.d.Identity(list)) {
			return false
		}
	}
	for _, text := range []string{
		`{"enabled": true, "auto_checkpoint": false, "max_size_mb": 50, "compress": true, "location": "a", "triggers": {"agent_complete": true}, "retention": {"manual": "all"}}`,
		`{"checkpoint": {"storage": {"max_size_mb": 51, "location": "a", "path": "b", "compress": false}, "checkpoint_triggers": ["batch_complete"], "other": 1}}`,
		`{"triggers": {"manual": {"enabled": true}}, "checkpoint_triggers": {"manual": {"enabled": false}, "agent_complete": true},
			"retention": {"manual": {"last": 1}, "batch_complete": {"keep": 2}, "agent_complete": {"keep_last": 3}}}`,
	} {
		settings, err := b.d.Configuration(json.RawMessage(text))
		if !b.tell("settings %v %v", settings, err) {
			return false
		}
	}
	values := map[string]any{"label": "L", "files": 1, "commit": "C", "error": "E", "step": 2, "step_name": "N", "last_valid": "V", "key": "K",
		"reverted": 3, "discarded": "D", "left_behind": 4, "next_step": 5, "next_name": "M", "state": "S", "trigger": "T"}
	for _, key := range sortedKeys(Default().Messages) {
		if !b.tell("%s: %q", key, b.d.Message(key, values)) {
			return false
		}
	}
	state, err := b.d.Read(b.a.State)
	var refused *StateError
	return b.tell("read %q %q %q %v", state.Status, state.Topic, state.ID, errors.As(err, &refused))
}
