package create

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// How a workflow's definition moves a checkpoint: its trigger, step, state and
// status.

// trigger is the one that the request or its document names, else manual.
func (c *creation) trigger() string {
	switch {
	case c.req.Trigger != "":
		return c.req.Trigger
	case c.document != nil && c.document.Trigger != "":
		return c.document.Trigger
	}
	return workflow.TriggerManual
}

// CheckTrigger refuses a trigger that the workflow does not know or that is off.
func (c *creation) checkTrigger() error {
	o, err := c.def.Trigger(c.trigger(), c.s.Settings.Get)
	if err != nil {
		return checkpoint.Usage("", "%v", err)
	}
	switch {
	case c.safety || o.Name != workflow.TriggerSafety && o.Enabled:
		return nil
	case o.Enabled:
		return checkpoint.Usage("a rollback makes them by itself", "a safety checkpoint cannot be asked for")
	}
	return &checkpoint.Error{Kind: checkpoint.KindNothing, Message: c.triggerOff(o)}
}

// accept takes the --state document apart.
func (c *creation) accept() error {
	if _, err := record.ParseJSON(c.req.State, record.Limits{}); err != nil {
		var size *record.SizeError
		if errors.As(err, &size) {
			return tooLarge(checkpoint.DefaultMaxRecordSize)
		}
		return checkpoint.Usage("--state takes one JSON object", "the state is refused: %v", err)
	}
	a, err := c.def.Accept(c.req.State)
	if err != nil {
		return checkpoint.Usage("--state takes one JSON object", "the state is refused: %v", err)
	}
	if a.Status != "" && c.req.Status != "" && a.Status != c.req.Status {
		return checkpoint.Usage("leave --status out, or make them agree", "the document says status %q and --status %q", name.Clip(a.Status, name.Said), name.Clip(c.req.Status, name.Said))
	}
	if a.Step != nil && c.req.Step != nil && *a.Step != *c.req.Step && c.def.Knows(c.req.State) {
		return checkpoint.Usage("leave --step out, or make them agree", "the document says step %d and --step %d", *a.Step, *c.req.Step)
	}
	c.document = &a
	return c.checkTrigger()
}

// composeState edits the state and settles status and error.
func (c *creation) composeState(prev base) error {
	r := c.record
	r.State, r.Error = json.RawMessage("{}"), nil
	if prev.record != nil {
		r.State, r.Status = prev.record.State, prev.record.Status
	}
	if from := c.req.Promote; from != nil {
		r.State, r.Status = from.State, from.Status
	}
	if c.document != nil {
		r.State, r.Status = c.document.State, ""
	}
	if c.req.Edited != nil {
		r.State = c.req.Edited
	}
	before := r.State
	if err := c.edit(); err != nil {
		return err
	}
	if err := keepOwner(c, before); err != nil {
		return err
	}
	if err := c.placeSaid(prev); err != nil {
		return err
	}
	facts, err := c.def.Read(r.State)
	if err != nil {
		return checkpoint.Usage("", "the state is refused: %v", err)
	}
	if c.document != nil {
		facts.Error = first(facts.Error, c.document.Error)
		if facts.Status == "" { // what an edit said comes before the document
			facts.Status = c.document.Status
		}
	}
	switch {
	case c.req.Status != "":
		r.Status = c.req.Status
	case facts.Status != "":
		r.Status = facts.Status
	case r.Status == "":
		if r.Status = c.def.Statuses.Initial; r.Status == "" {
			r.Status = "in_progress"
		}
	}
	r.Error = facts.Error
	if c.req.Error != nil {
		r.Error = errorValue(*c.req.Error)
	}
	return nil
}

// placeSaid writes what --status and --error say where the workflow keeps it in the
// state: the two must not tell different things.
func (c *creation) placeSaid(prev base) error {
	in, state := c.def.State.Members, c.record.State
	if in.Status != "" && c.req.Status != "" {
		was, now := "", gjson.GetBytes(state, in.Status).String()
		if c.document == nil && prev.record != nil {
			was = gjson.GetBytes(prev.record.State, in.Status).String()
		} else if c.document != nil {
			was = c.document.Status
		}
		edited := slices.ContainsFunc(c.req.Set, func(a Assign) bool { return a.Path == in.Status })
		if (now != was || edited) && now != c.req.Status {
			return checkpoint.Usage("leave --status out, or make them agree", "the state says status %q and --status %q", name.Clip(now, name.Said), name.Clip(c.req.Status, name.Said))
		}
		if state = put(c.record.State, in.Status, quote(c.req.Status)); state == nil {
			return nil // no object: the workflow will say so
		}
		c.record.State = state
	}
	if in.Error == "" || c.req.Error == nil {
		return nil
	}
	value := errorValue(*c.req.Error)
	edited := slices.ContainsFunc(c.req.Set, func(a Assign) bool { return a.Path == in.Error })
	if now := gjson.GetBytes(state, in.Error); edited && !sameError(json.RawMessage(now.Raw), value) {
		return checkpoint.Usage("leave --error out, or make them agree", "--set says error %s and --error %q", name.Clip(now.Raw, name.Said), name.Clip(*c.req.Error, name.Said))
	}
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

// keepOwner refuses an edit that makes the document one of another session: one issue, one
// session.
func keepOwner(c *creation, before json.RawMessage) error {
	if len(c.req.Set)+len(c.req.Patch)+len(c.req.Edited) == 0 {
		return nil
	}
	was, now := c.def.SessionOf(workflow.Accepted{State: before}), c.def.SessionOf(workflow.Accepted{State: c.record.State})
	if was == "" || now == "" || was == now {
		return nil
	}
	return &checkpoint.Error{
		Kind:    checkpoint.KindRejected,
		Message: fmt.Sprintf("the edit makes this a document of %q, and session %q holds %q", name.Clip(now, name.Said), c.session, name.Clip(was, name.Said)),
		Hints:   []string{"a document given with --state goes to its own session"},
	}
}

// put is the state with a member, nil where it cannot have one.
func put(state json.RawMessage, path string, value json.RawMessage) json.RawMessage {
	state, err := record.Set(state, path, string(value), record.Limits{})
	if err != nil {
		return nil
	}
	return state
}

func quote(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) //nolint:errcheck // a string never fails
	return quoted
}

func first(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

// errorValue reads --error: JSON as it is, text as a string, "" as none.
func errorValue(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if raw, err := record.ParseJSON([]byte(text), record.Limits{}); err == nil {
		return raw
	}
	return quote(text)
}

// edit applies --patch, --set, --unset and --metric.
func (c *creation) edit() error {
	var err error
	state := c.record.State
	if len(c.req.Patch) > 0 {
		if state, err = record.MergePatch(state, c.req.Patch, record.Limits{}); err != nil {
			return checkpoint.Usage("--patch takes one JSON object (RFC 7396)", "the patch is refused: %v", err)
		}
	}
	for _, a := range c.req.Set {
		if state, err = record.Set(state, a.Path, a.Value, record.Limits{}); err != nil {
			return checkpoint.Usage("--set PATH=VALUE takes a path like tasks.0.status", "%v", err)
		}
	}
	for _, p := range c.req.Unset {
		if state, err = record.Unset(state, p, record.Limits{}); err != nil {
			return checkpoint.Usage("", "%v", err)
		}
	}
	metrics := c.def.State.Members.Metrics
	if metrics == "" {
		metrics = "metrics"
	}
	for _, m := range c.req.Metrics {
		if state, err = record.SetMetric(state, metrics, m.Path, m.Value, record.Limits{}); err != nil {
			return checkpoint.Usage("--metric NAME=VALUE", "%v", err)
		}
	}
	c.record.State = state
	return nil
}

// number settles step, name, iteration and label.
func (c *creation) number(v store.View) error {
	r := c.record
	req := workflow.PlaceRequest{
		Trigger: r.Trigger, Step: c.req.Step, Name: c.req.Name, Iteration: c.req.Iteration, State: r.State,
	}
	if c.document != nil {
		req.Document = &c.document.Facts
	}
	if v.State != nil {
		req.Last = lastMilestone(v.State)
		req.Milestones = func(step int) (iterations []string, named string) {
			for i, c := range v.State.Standings() {
				if c.Live && c.Milestone && c.Step == step {
					e := v.State.At(i).Event()
					iterations, named = append(iterations, e.Iteration), e.StepName
				}
			}
			return iterations, named
		}
		for n := range v.State.Skipped {
			req.Skipped = append(req.Skipped, n)
		}
	}
	p, err := c.def.Place(req)
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindRejected, Err: err}
	}
	c.spot = p
	r.Step, r.StepName, r.Iteration, r.Milestone = p.Step, p.Name, p.Iteration, p.Milestone
	if r.Milestone {
		r.Label = name.Label(r.Step, r.StepName, r.Iteration)
		return nil
	}
	if r.StepName == "" && v.State != nil {
		if e := v.State.Milestone(r.Step, ""); e != nil {
			r.StepName = e.Event().StepName
		}
	}
	r.Label = fmt.Sprintf("%s+%d", name.Label(r.Step, r.StepName, ""), checkpoint.HighestSuffix(v.State, r.Step)+1)
	return nil
}

// numberSafety hangs a safety checkpoint on the current step.
func (c *creation) numberSafety(v store.View, prev base) {
	r, n := c.record, 1
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

// lastMilestone is the step of the newest milestone in the line of the current
// checkpoint; nil when there is none.
func lastMilestone(st *journal.State) *int {
	for e := range st.Line() {
		if e.Milestone || e.Step > 0 {
			n := e.Step
			return &n
		}
	}
	return nil
}

// check completes the state with what the workflow computes, and applies its
// schema, transitions and rules: all broken ones are reported at once.
func (c *creation) check(v store.View, prev base) error {
	change := c.change(v)
	if prev.record != nil {
		change.Old, change.OldStatus = prev.record.State, prev.record.Status
	}
	var given json.RawMessage
	if c.document != nil {
		given = c.document.State
	}
	state, err := c.def.Derive(change, given)
	if err != nil {
		return checkpoint.Usage("", "the state is refused: %v", err)
	}
	c.stated, c.record.State, change.New = c.record.State, state, state
	return rejected(c.def, c.def.Check(change))
}

// checkOrder is the part of check that is known before a step has run.
func (c *creation) checkOrder(v store.View) error {
	return rejected(c.def, c.def.CheckOrder(c.change(v)))
}

func (c *creation) change(v store.View) workflow.Change {
	change := workflow.Change{
		New: c.record.State, NewStatus: c.record.Status, Trigger: c.record.Trigger, Session: string(c.session), Topic: c.record.Topic, Handed: c.document != nil,
		Place: c.spot, Now: c.at, Started: c.at,
	}
	if v.State == nil {
		return change
	}
	change.Started = v.State.CreatedAt
	for _, c := range v.State.Standings() {
		if c.Live && c.Milestone {
			change.Live = append(change.Live, c.Step)
		}
	}
	for n := range v.State.Skipped {
		change.Skipped = append(change.Skipped, n)
	}
	return change
}

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
