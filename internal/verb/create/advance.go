package create

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// This file applies the workflow's definition to a new checkpoint: its trigger, step, state and
// status. The order is accept (parse the document), composeState (edit the state), number (place it
// among the steps), check (derive members, then check schema, transitions and rules).

// trigger returns the trigger that the request names, else the document's, else manual.
func (r Request) trigger(document workflow.Accepted) string {
	return cmp.Or(r.Trigger, document.Trigger, workflow.TriggerManual)
}

// handed reports whether the request has a state document.
func (c *request) handed() bool { return len(c.req.State) > 0 }

// CheckTrigger returns an error if the workflow does not know the trigger (KindUsage) or it is
// switched off (KindNothing). The session may be empty.
func CheckTrigger(s *checkpoint.Service, def *workflow.Definition, session name.Session, trigger string) error {
	off, err := def.SwitchedOff(trigger, s.Settings.Get)
	switch {
	case err != nil:
		return checkpoint.Usage("", "%v", err)
	case off != "":
		return &checkpoint.Error{Kind: checkpoint.KindNothing, Message: triggerOff(s, def, session, trigger, off)}
	case trigger == workflow.TriggerSafety: // only a rollback may make a safety checkpoint
		return checkpoint.Usage("a rollback makes safety checkpoints itself", "the trigger safety cannot be chosen")
	}
	return nil
}

// accept parses the --state document, if there is one. What it says about status and step must not contradict the
// options.
func (c *request) accept(def *workflow.Definition) (*defined, error) {
	if !c.handed() {
		return &defined{request: c, def: def}, nil
	}
	if _, err := record.ParseJSON(c.req.State, record.Limits{}); err != nil {
		if size, is := errors.AsType[*record.SizeError](err); is {
			return nil, tooLarge(size)
		}
		return nil, checkpoint.Usage("--state must be one JSON object", "the state is invalid: %v", err)
	}
	a, err := def.Accept(c.req.State)
	if err != nil {
		return nil, checkpoint.Usage("--state must be one JSON object", "the state is invalid: %v", err)
	}
	if a.Status != "" && c.req.Status != "" && a.Status != c.req.Status {
		return nil, checkpoint.Usage("leave out --status, or make them agree", "the document has status %q, but --status is %q", name.Clip(a.Status, name.Said), name.Clip(c.req.Status, name.Said))
	}
	// A step in a document of unknown origin may count something else, so only a recognised
	// document can contradict --step.
	if a.Step != nil && c.req.Step != nil && *a.Step != *c.req.Step && def.Knows(c.req.State) {
		return nil, checkpoint.Usage("leave out --step, or make them agree", "the document has step %d, but --step is %d", *a.Step, *c.req.Step)
	}
	return &defined{request: c, def: def, document: a}, CheckTrigger(c.s, def, c.session, c.req.trigger(a))
}

// composeState computes state, status and error. The state is the document, or else the one of the
// checkpoint before (or of the promoted attempt), with the edits of the request applied. The status
// is that of the option, else of the edited state, else of the document, else it is carried over.
func (c *draft) composeState() error {
	r, prev := c.record, c.prev
	r.State, r.Error = json.RawMessage("{}"), nil
	if prev.record != nil {
		r.State, r.Status = prev.record.State, prev.record.Status
	}
	if from := c.req.Promote; from != nil {
		r.State, r.Status = from.State, from.Status
	}
	if c.handed() {
		r.State, r.Status = c.document.State, ""
	}
	if c.req.Edited != nil {
		r.State = c.req.Edited
	}
	before := r.State
	var err error
	if r.State, err = edited(c.req, c.def, before); err != nil {
		return err
	}
	// Compare with the state before the edits: a document may change its owner, an edit may not.
	if err := c.keepOwner(before); err != nil {
		return err
	}
	if err := c.placeSaid(); err != nil {
		return err
	}
	facts, err := c.def.Read(r.State)
	if err != nil {
		return checkpoint.Usage("", "the state is invalid: %v", err)
	}
	facts.Status = cmp.Or(facts.Status, c.document.Status) // what an edit set comes before the document
	if facts.Error == nil {
		facts.Error = c.document.Error
	}
	r.Status = cmp.Or(c.req.Status, facts.Status, r.Status, c.def.Statuses.Initial, checkpoint.StatusOpen)
	r.Error = facts.Error
	if c.req.Error != nil {
		r.Error = errorValue(*c.req.Error)
	}
	return nil
}

// placeSaid writes --status and --error into the state, if the workflow keeps them there. Otherwise
// the state would contradict the record. It returns an error if the request itself sets another
// value.
func (c *draft) placeSaid() error {
	prev := c.prev
	in, state := c.def.State.Members, c.record.State
	if in.Status != "" && c.req.Status != "" {
		was, now := c.document.Status, gjson.GetBytes(state, in.Status).String()
		// Without a document, a status in the state that is the old one was carried over and may be
		// replaced.
		if !c.handed() && prev.record != nil {
			was = gjson.GetBytes(prev.record.State, in.Status).String()
		}
		edited := slices.ContainsFunc(c.req.Set, func(a Assign) bool { return a.Path == in.Status })
		if (now != was || edited) && now != c.req.Status {
			return checkpoint.Usage("leave out --status, or make them agree", "the state has status %q, but --status is %q", name.Clip(now, name.Said), name.Clip(c.req.Status, name.Said))
		}
		if state = put(c.record.State, in.Status, quote(c.req.Status)); state == nil {
			return nil // not an object: the workflow's check reports it
		}
		c.record.State = state
	}
	if in.Error == "" || c.req.Error == nil {
		return nil
	}
	value := errorValue(*c.req.Error)
	edited := slices.ContainsFunc(c.req.Set, func(a Assign) bool { return a.Path == in.Error })
	if now := gjson.GetBytes(state, in.Error); edited && !sameError(json.RawMessage(now.Raw), value) {
		return checkpoint.Usage("leave out --error, or make them agree", "--set gives error %s, but --error is %q", name.Clip(now.Raw, name.Said), name.Clip(*c.req.Error, name.Said))
	}
	// "" clears the error. A state that has no such member does not get one.
	if value == nil {
		if !gjson.GetBytes(state, in.Error).Exists() {
			return nil
		}
		value = json.RawMessage("null")
	}
	if state = put(c.record.State, in.Error, value); state != nil {
		c.record.State = state
	}
	return nil
}

// keepOwner returns an error if an edit changes the owner that the document names, such as the
// number of its issue, or what all documents of its job share: each session holds the documents of one
// owner. A document that names no owner went to the session of what it is after the edit.
func (c *draft) keepOwner(before json.RawMessage) error {
	if len(c.req.Set)+len(c.req.Patch)+len(c.req.Edited) == 0 {
		return nil
	}
	was, now := c.def.SessionOf(workflow.Accepted{State: before}), c.def.SessionOf(workflow.Accepted{State: c.record.State})
	const hint = "give the document with --state: then it goes to its own session"
	if was == "" || now == "" || was == now {
		if path := c.def.OtherJob(before, c.record.State); path != "" && (was != "" || !c.handed()) {
			return checkpoint.Failure(checkpoint.KindRejected, hint, "the edit changes %s, which makes this a document of another job than session %q holds", path, c.session)
		}
		return nil
	}
	return checkpoint.Failure(checkpoint.KindRejected, hint, "the edit makes this a document of %q, but session %q holds %q", name.Clip(now, name.Said), c.session, name.Clip(was, name.Said))
}

// put returns the state with the member set to value, or nil if the state cannot have that member.
func put(state json.RawMessage, path string, value json.RawMessage) json.RawMessage {
	state, err := record.Set(state, path, string(value))
	if err != nil {
		return nil
	}
	return state
}

// quote returns text as a JSON string.
func quote(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) //nolint:errcheck // a string never fails
	return quoted
}

// errorValue converts the value of --error: JSON is kept, other text becomes a string, "" becomes
// nil.
func errorValue(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if raw, err := record.ParseJSON([]byte(text), record.Limits{}); err == nil {
		return raw
	}
	return quote(text)
}

// edited returns the state after --patch, --set, --unset and --metric, in this order.
func edited(req Request, def *workflow.Definition, state json.RawMessage) (_ json.RawMessage, err error) {
	if len(req.Patch) > 0 {
		if state, err = record.MergePatch(state, req.Patch); err != nil {
			return nil, checkpoint.Usage("--patch must be one JSON object (RFC 7396)", "the patch is invalid: %v", err)
		}
	}
	for _, a := range req.Set {
		if state, err = record.Set(state, a.Path, a.Value); err != nil {
			return nil, checkpoint.Usage("--set PATH=VALUE needs a path such as tasks.0.status", "%v", err)
		}
	}
	for _, p := range req.Unset {
		if state, err = record.Unset(state, p); err != nil {
			return nil, checkpoint.Usage("", "%v", err)
		}
	}
	for _, m := range req.Metrics {
		if state, err = record.SetMetric(state, metricsPath(def), m.Path, m.Value); err != nil {
			return nil, checkpoint.Usage("--metric NAME=VALUE", "%v", err)
		}
	}
	return state, nil
}

// number decides step, name, iteration and label. The workflow's Place decides the step; this
// function supplies what it needs to know about the session.
func (c *draft) number(v store.View) error {
	r := c.record
	req := workflow.PlaceRequest{
		Trigger: r.Trigger, Step: c.req.Step, Name: c.req.Name, Iteration: c.req.Iteration, State: r.State,
	}
	if c.handed() {
		req.Document = &c.document.Facts
	}
	if v.State != nil {
		req.Last = lastMilestone(v.State)
		req.Milestones = func(step int) (iterations []string, named string) {
			newest := -1
			for i, c := range v.State.Standings() {
				if c.Live && c.Milestone && c.Step == step {
					iterations, newest = append(iterations, v.State.IterationOf(i)), i
				}
			}
			if newest >= 0 {
				named = v.State.StepName(newest)
			}
			return iterations, named
		}
		req.Skipped, req.Highest, req.Used = slices.Collect(maps.Keys(v.State.Skipped)), v.State.Highest(), v.State.IterationsOf
	}
	p, err := c.def.Place(req)
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindRejected, Err: err}
	}
	c.spot = p
	r.Step, r.StepName, r.Iteration, r.Milestone = p.Step, p.Name, p.Iteration, p.Milestone
	// Labels: see "Label" in docs/format.md.
	if r.Milestone {
		r.Label = name.Label(r.Step, r.StepName, r.Iteration)
		return nil
	}
	// A checkpoint that is not a milestone has the name of the step that it hangs on.
	if r.StepName == "" && v.State != nil {
		if e := v.State.Milestone(r.Step, ""); e != nil {
			r.StepName = e.Event().StepName
		}
	}
	r.Label = fmt.Sprintf("%s+%d", name.Label(r.Step, r.StepName, ""), checkpoint.HighestSuffix(v.State, r.Step, c.def.Steps)+1)
	return nil
}

// numberSafety gives a safety checkpoint the current step and the next safety number of the
// session.
func (c *draft) numberSafety(v store.View) {
	r, prev, n := c.record, c.prev, 1
	if prev.entry != nil {
		r.Step, r.StepName = prev.entry.Step, prev.entry.Event().StepName
	}
	if v.State != nil {
		for _, c := range v.State.Standings() {
			if c.Safety {
				n++
			}
		}
	}
	r.Label = fmt.Sprintf("%s+safety-%d", name.Label(r.Step, r.StepName, ""), n)
}

// lastMilestone returns the step that the session is at: the step of the current checkpoint or, if
// it belongs to none, of the newest one before it that does. It returns nil if there is none. A
// checkpoint that is not a milestone has the number of the milestone that it hangs on, so it counts
// too.
func lastMilestone(st *journal.State) *int {
	for e := range st.Line() {
		if e.Milestone || e.Step > 0 {
			return new(e.Step)
		}
	}
	return nil
}

// check adds the members that the workflow derives to the state and then applies its schema,
// transitions and rules. All violations are reported in one error.
func (c *draft) check(ctx context.Context, v store.View) error {
	change := c.forRules(v)
	if prev := c.prev; prev.record != nil {
		change.Old, change.OldStatus = prev.record.State, prev.record.Status
		change.Former = c.s.Former(ctx, c.def, v.State, prev.entry)
	}
	// A member that the document itself has is not derived: members of the document override derived
	// ones.
	state, err := c.def.Derive(change, c.document.State)
	if err != nil {
		return checkpoint.Usage("", "the state is invalid: %v", err)
	}
	c.stated, c.record.State, change.New = c.record.State, state, state
	return rejected(c.def, c.def.Check(change))
}

// forRules describes the checkpoint for the workflow's rules.
func (c *draft) forRules(v store.View) workflow.Change {
	change := workflow.Change{
		New: c.record.State, NewStatus: c.record.Status, Trigger: c.record.Trigger, Session: string(c.session), Topic: c.record.Topic, Handed: c.handed(),
		Place: c.spot, Now: c.at, Started: c.at,
	}
	if v.State == nil {
		return change
	}
	change.Started = v.State.CreatedAt
	change.Live = make([]int, 0, v.State.Len())
	for _, c := range v.State.Standings() {
		if c.Live && c.Milestone {
			change.Live = append(change.Live, c.Step)
		}
	}
	change.Skipped = slices.Collect(maps.Keys(v.State.Skipped))
	return change
}

// rejected returns an error of KindRejected with a hint for each violation, or nil if there is
// none.
func rejected(def *workflow.Definition, broken []workflow.Violation) error {
	if len(broken) == 0 {
		return nil
	}
	e := &checkpoint.Error{Kind: checkpoint.KindRejected, Message: fmt.Sprintf("workflow %s rejects this checkpoint", def.Name)}
	for _, b := range broken {
		e.Hints = append(e.Hints, b.String())
	}
	return e
}
