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
)

// This file applies the workflow's definition to a new checkpoint: its trigger, step, state and
// status. The order is accept (parse the document), composeState (edit the state), number (place it
// among the steps), check (derive members, then check schema, transitions and rules).

// trigger returns the trigger that the request names, else the document's, else manual.
func (r Request) trigger(document workflow.Accepted) string {
	return cmp.Or(r.Trigger, document.Trigger, workflow.TriggerManual)
}

// handed reports whether the request has a state document.
func (r *request) handed() bool { return len(r.req.State) > 0 }

// CheckTrigger returns an error if the workflow does not know the trigger (KindUsage) or it is
// switched off (KindNothing). The session may be empty.
func CheckTrigger(s *checkpoint.Rules, def *workflow.Definition, session name.Session, trigger string) error {
	off, err := def.SwitchedOff(trigger, s.Settings.Get)
	switch {
	case err != nil:
		return checkpoint.Usage("", "%v", err)
	case off != "":
		return &checkpoint.Error{Kind: checkpoint.KindNothing, Message: triggerOff(s.Repo, def, session, trigger, off)}
	case trigger == workflow.TriggerSafety: // only a rollback may make a safety checkpoint
		return checkpoint.Usage("a rollback makes safety checkpoints itself", "the trigger safety cannot be chosen")
	}
	return nil
}

// accept parses the --state document, if there is one. What it says about status and step must not contradict the
// options.
func (r *request) accept(def *workflow.Definition) (none workflow.Accepted, err error) {
	if !r.handed() {
		return none, nil
	}
	var a workflow.Accepted
	_, err = record.ParseJSON(r.req.State, record.Limits{})
	if size, is := errors.AsType[*record.SizeError](err); is {
		return none, tooLarge(size)
	}
	if err == nil {
		a, err = def.Accept(r.req.State)
	}
	if err != nil {
		return none, checkpoint.Usage("--state must be one JSON object", "the state is invalid: %v", err)
	}
	if a.Status != "" && r.req.Status != "" && a.Status != r.req.Status {
		return none, checkpoint.Usage("leave out --status, or make them agree", "the document has status %q, but --status is %q", name.Clip(a.Status, name.Said), name.Clip(r.req.Status, name.Said))
	}
	// A step in a document of unknown origin may count something else, so only a recognised
	// document can contradict --step.
	if a.Step != nil && r.req.Step != nil && *a.Step != *r.req.Step && def.Knows(r.req.State) {
		return none, checkpoint.Usage("leave out --step, or make them agree", "the document has step %d, but --step is %d", *a.Step, *r.req.Step)
	}
	return a, CheckTrigger(r.s.Rules, def, r.home.session, r.req.trigger(a))
}

// composeState computes state, status and error of a record; prev is that of the checkpoint before, or nil. The state is the
// document, or else that of prev (or of the promoted attempt), with the edits of the request applied. The status is that of
// the option, else of the edited state, else of the document, else it is carried over.
func (c *captured) composeState(r, prev *record.Record) error {
	req := c.in.req
	before := json.RawMessage("{}")
	if prev != nil {
		before, r.Status = prev.State, prev.Status
	}
	if from := req.Promote; from != nil {
		before, r.Status = from.State, from.Status
	}
	if c.in.handed() {
		before, r.Status = c.document.State, ""
	}
	if req.Edited != nil {
		before = req.Edited
	}
	var err error
	if r.State, err = edited(req, c.def, before); err != nil {
		return err
	}
	// Compare with the state before the edits: a document may change its owner, an edit may not.
	if err := c.keepOwner(before, r.State); err != nil {
		return err
	}
	if r.State, err = c.placeSaid(r.State, prev); err != nil {
		return err
	}
	facts, err := c.def.Read(r.State)
	if err != nil {
		return checkpoint.Usage("", "the state is invalid: %v", err)
	}
	// What an edit set comes before the document.
	r.Status = cmp.Or(req.Status, facts.Status, c.document.Status, r.Status, c.def.Statuses.Initial, checkpoint.StatusOpen)
	if r.Error = facts.Error; r.Error == nil {
		r.Error = c.document.Error
	}
	if req.Error != nil {
		r.Error = errorValue(*req.Error)
	}
	return nil
}

// placeSaid returns the state with --status and --error in it, if the workflow keeps them there. Otherwise
// the state would contradict the record. It returns an error if the request itself sets another
// value.
func (c *captured) placeSaid(state json.RawMessage, prev *record.Record) (json.RawMessage, error) {
	in, req := c.def.State.Members, c.in.req
	edited := func(path string) bool {
		return slices.ContainsFunc(req.Set, func(a Assign) bool { return a.Path == path })
	}
	if in.Status != "" && req.Status != "" {
		was, now := c.document.Status, gjson.GetBytes(state, in.Status).String()
		// Without a document, a status in the state that is the old one was carried over and may be
		// replaced.
		if !c.in.handed() && prev != nil {
			was = gjson.GetBytes(prev.State, in.Status).String()
		}
		if (now != was || edited(in.Status)) && now != req.Status {
			return nil, checkpoint.Usage("leave out --status, or make them agree", "the state has status %q, but --status is %q", name.Clip(now, name.Said), name.Clip(req.Status, name.Said))
		}
		set, err := record.Set(state, in.Status, string(quote(req.Status)))
		if err != nil {
			return state, nil //nolint:nilerr // not an object: the workflow's check reports it
		}
		state = set
	}
	if in.Error == "" || req.Error == nil {
		return state, nil
	}
	value, now := errorValue(*req.Error), gjson.GetBytes(state, in.Error)
	if edited(in.Error) && !sameError(json.RawMessage(now.Raw), value) {
		return nil, checkpoint.Usage("leave out --error, or make them agree", "--set gives error %s, but --error is %q", name.Clip(now.Raw, name.Said), name.Clip(*req.Error, name.Said))
	}
	// "" clears the error. A state that has no such member does not get one.
	if value == nil && !now.Exists() {
		return state, nil
	}
	set, err := record.Set(state, in.Error, cmp.Or(string(value), "null"))
	if err != nil {
		return state, nil //nolint:nilerr // not an object: the workflow's check reports it
	}
	return set, nil
}

// keepOwner returns an error if an edit changes the owner that the document names, such as the
// number of its issue, or what all documents of its job share: each session holds the documents of one
// owner. A document that names no owner went to the session of what it is after the edit.
func (c *captured) keepOwner(before, after json.RawMessage) error {
	if req := c.in.req; len(req.Set)+len(req.Patch)+len(req.Edited) == 0 {
		return nil
	}
	was, now, session := c.def.SessionOf(workflow.Accepted{State: before}), c.def.SessionOf(workflow.Accepted{State: after}), c.in.home.session
	const hint = "give the document with --state: then it goes to its own session"
	if was == "" || now == "" || was == now {
		if path := c.def.OtherJob(before, after); path != "" && (was != "" || !c.in.handed()) {
			return checkpoint.Failure(checkpoint.KindRejected, hint, "the edit changes %s, which makes this a document of another job than session %q holds", path, session)
		}
		return nil
	}
	return checkpoint.Failure(checkpoint.KindRejected, hint, "the edit makes this a document of %q, but session %q holds %q", name.Clip(now, name.Said), session, name.Clip(was, name.Said))
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
func (d *draft) number() error {
	r, req, st := d.record, d.in.req, d.st
	asked := workflow.PlaceRequest{
		Trigger: r.Trigger, Step: req.Step, Name: req.Name, Iteration: req.Iteration, State: r.State,
		Last: lastMilestone(st), Skipped: slices.Collect(maps.Keys(st.Skipped)), Highest: st.Highest(), Used: st.IterationsOf,
		Milestones: func(step int) (iterations []string, named string) {
			for i, c := range st.Standings() {
				if c.Live && c.Milestone && c.Step == step {
					iterations, named = append(iterations, st.IterationOf(i)), st.StepName(i)
				}
			}
			return iterations, named
		},
	}
	if d.in.handed() {
		asked.Document = &d.got.document.Facts
	}
	spot, err := d.got.def.Place(asked)
	if err != nil { // the spot is none then, and the session waits for no such step
		return &checkpoint.Error{Kind: checkpoint.KindRejected, Err: err}
	}
	d.spot = spot
	r.Step, r.StepName, r.Iteration, r.Milestone = d.spot.Step, d.spot.Name, d.spot.Iteration, d.spot.Milestone
	// Labels: see "Label" in docs/format.md.
	if r.Milestone {
		r.Label = name.Label(r.Step, r.StepName, r.Iteration)
		return nil
	}
	// A checkpoint that is not a milestone has the name of the step that it hangs on.
	if e := st.Milestone(r.Step, ""); r.StepName == "" && e != nil {
		r.StepName = e.Event().StepName
	}
	r.Label = fmt.Sprintf("%s+%d", name.Label(r.Step, r.StepName, ""), checkpoint.HighestSuffix(st, r.Step, d.got.def.Steps)+1)
	return nil
}

// numberSafety gives a safety checkpoint the current step and the next safety number of the
// session.
func numberSafety(r *record.Record, st *journal.State, at *journal.Entry) {
	n := 1
	if at != nil {
		r.Step, r.StepName = at.Step, at.Event().StepName
	}
	for _, c := range st.Standings() {
		if c.Safety {
			n++
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
func (d *draft) check(ctx context.Context) error {
	change, def := d.forRules(), d.got.def
	if prev := d.prev; prev.record != nil {
		change.Old, change.OldStatus = prev.record.State, prev.record.Status
		change.Former = checkpoint.Former(ctx, d.in.s.Store, def, d.st, prev.entry)
	}
	// A member that the document itself has is not derived: members of the document override derived
	// ones.
	state, err := def.Derive(change, d.got.document.State)
	if err != nil {
		return checkpoint.Usage("", "the state is invalid: %v", err)
	}
	d.stated, d.record.State, change.New = d.record.State, state, state
	return rejected(def, def.Check(change))
}

// forRules describes the checkpoint for the workflow's rules.
func (d *draft) forRules() workflow.Change {
	r := d.record
	change := workflow.Change{
		New: r.State, NewStatus: r.Status, Trigger: r.Trigger, Session: string(r.Session), Topic: r.Topic, Handed: d.in.handed(),
		Place: d.spot, Now: d.in.at, Started: d.st.CreatedAt, Live: make([]int, 0, d.st.Len()), Skipped: slices.Collect(maps.Keys(d.st.Skipped)),
	}
	if d.isNew {
		change.Started = d.in.at
	}
	for _, c := range d.st.Standings() {
		if c.Live && c.Milestone {
			change.Live = append(change.Live, c.Step)
		}
	}
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
