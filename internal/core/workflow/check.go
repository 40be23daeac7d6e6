package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Names of the rules that every workflow has, besides its own.
const (
	ruleState      = "state"
	ruleSchema     = "schema"
	ruleStatus     = "status"
	ruleTransition = "transition"
	ruleStepOrder  = "step_order"
)

// maxValue is the number of bytes of a value that a violation shows.
const maxValue = 200

// Violation is one broken rule. The JSON is part of the program's output.
type Violation struct {
	// Rule is "state", "schema", "status", "transition", "step_order" or the name of one of the
	// workflow's rules.
	Rule    string `json:"rule"`
	Path    string `json:"path"`    // the member of the state, "" for the whole state
	Value   string `json:"value"`   // the value found there, as JSON cut to 200 bytes; "" if there is none
	Allowed string `json:"allowed"` // describes what would be allowed
	Message string `json:"message"` // describes what is wrong. It reads as a predicate: "is missing"
}

// String returns the violation on one line.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.Rule + ": ")
	if v.Path != "" {
		b.WriteString(v.Path + " ")
	}
	b.WriteString(v.Message)
	if v.Value != "" {
		b.WriteString(": " + v.Value)
	}
	if v.Allowed != "" {
		b.WriteString(" (allowed: " + v.Allowed + ")")
	}
	return b.String()
}

// Change is a new checkpoint together with the one that it follows.
type Change struct {
	// Old is the state of the current checkpoint, nil if there is none. New is the state of the new
	// one, with all edits and derivations applied.
	Old, New json.RawMessage
	// Former is the state of the newest checkpoint before the current one that had another status, nil
	// if there is none or the definition does not ask for it; see AsksFormer.
	Former               json.RawMessage
	OldStatus, NewStatus string // OldStatus is "" if there is no current checkpoint
	// Place is where the new checkpoint stands, Trigger what caused it.
	Place   Place
	Trigger string
	Session string
	Topic   string // the description that the session was started with
	Handed  bool   // means that a document was passed with this checkpoint
	// Live are the steps that have a live milestone. Skipped are the steps that the user decided to
	// do without.
	Live, Skipped []int
	Now, Started  time.Time // Now and the time at which the session started are for rules about time, in whole seconds
}

// Check returns every rule that the change breaks, at most maxViolations: the schema, the status
// and its transition, the workflow's own rules, and the order of steps. A rule that cannot be
// evaluated counts as broken, unless the schema has already reported that the state is malformed.
func (d *Definition) Check(c Change) []Violation {
	if t, known := d.trigger(c.Trigger); known && t.Exempt {
		return nil
	}
	state, broken := decodeState(c.New)
	if broken != nil {
		return []Violation{*broken}
	}
	found := d.checkSchema(state, len(c.New))
	malformed := len(found) > 0
	found = append(found, d.checkStatus(c)...)
	found = append(found, d.checkRules(c, state, malformed)...)
	found = append(found, d.CheckOrder(c)...)
	return found[:min(len(found), maxViolations)]
}

// AsksFormer reports whether an expression of the definition may use the variable `former`.
func (d *Definition) AsksFormer() bool { return bytes.Contains(d.source, []byte("former")) }

// HasRules reports whether the workflow has rules of its own. Only these look at Change.Old, so
// without them a caller of Check need not read it.
func (d *Definition) HasRules() bool { return len(d.Rules) > 0 }

// decodeState decodes a new state, which has to be an object. No text is an empty one.
func decodeState(text json.RawMessage) (any, *Violation) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	state, err := decode(text, maxDocumentSize)
	if err != nil {
		return nil, &Violation{Rule: ruleState, Allowed: "a JSON object", Message: "is " + err.Error()}
	}
	if _, ok := state.(map[string]any); !ok {
		return nil, &Violation{Rule: ruleState, Value: shorten(string(text), maxValue), Allowed: "a JSON object", Message: "is " + kind(state)}
	}
	return state, nil
}

// overStates returns the evaluator of rules and derivations. was and state are the states of c,
// decoded. It has the definition's values: one that cannot be computed over these states is nil, and
// they do not see each other.
func (d *Definition) overStates(m *meter, was, state any, c Change) *evaluator {
	e := &evaluator{&d.programs, m, ruleScope(), map[string]any{
		"old": was, "new": state, "former": value(c.Former), "status": c.NewStatus, "old_status": c.OldStatus,
		"trigger": c.Trigger, "session": c.Session,
		"step": c.Place.Step, "step_name": c.Place.Name, "iteration": c.Place.Iteration, "rounds": c.Place.rounds(), "milestone": c.Place.Milestone,
		"topic": c.Topic, "handed": c.Handed,
		"live": listOf(c.Live), "skipped": listOf(c.Skipped),
		"now": int(c.Now.Unix()), "started": int(max(0, c.Started.Unix())),
	}}
	computed := make(map[string]any, len(d.Values))
	for _, name := range sortedKeys(d.Values) {
		computed[name], _ = e.evaluate(d.Values[name])
	}
	maps.Copy(e.vars, computed)
	e.scope = d.ruleScope()
	return e
}

// checkSchema applies the schema. size is the length of the state's text, for the bound of the
// work.
func (d *Definition) checkSchema(state any, size int) []Violation {
	s, err := d.stateSchema()
	switch {
	case err != nil:
		return []Violation{{Rule: ruleSchema, Message: "cannot be read: " + err.Error()}}
	case s == nil:
		return nil
	}
	return s.violations(state, size)
}

// checkStatus reports an unknown status or a transition that is not allowed.
func (d *Definition) checkStatus(c Change) []Violation {
	path := d.State.Members.Status
	shown := string(encode(c.NewStatus))
	if s := d.Statuses; len(s.List) > 0 && !s.Open && !slices.Contains(s.List, c.NewStatus) {
		return []Violation{{ruleStatus, path, shown, strings.Join(s.List, ", "), "is not a status of the workflow"}}
	}
	if !isWord(c.NewStatus) {
		return []Violation{{ruleStatus, path, shorten(shown, maxValue), "1 to 40 letters, digits, _ and -", "is not a status"}}
	}
	next, limited := d.Statuses.Transitions[c.OldStatus]
	if c.OldStatus == "" || c.OldStatus == c.NewStatus || !limited || slices.Contains(next, c.NewStatus) {
		return nil
	}
	allowed := strings.Join(append([]string{c.OldStatus}, next...), ", ")
	return []Violation{{ruleTransition, path, shown, allowed, fmt.Sprintf("cannot follow %q", c.OldStatus)}}
}

// checkRules evaluates the workflow's rules. malformed means that the schema found something.
func (d *Definition) checkRules(c Change, state any, malformed bool) []Violation {
	if !d.HasRules() {
		return nil // what they look at grows with the session
	}
	e := d.overStates(newMeter(c.Old, c.Former, c.New), value(c.Old), state, c)
	var found []Violation
	for _, r := range d.Rules {
		if violation, ok := e.checkRule(r, c.New, malformed); !ok {
			found = append(found, violation)
		}
	}
	return found
}

// checkRule evaluates one rule; ok is false if it is broken. On a malformed state an expression
// fails for reasons that the schema has already reported, so such errors are ignored. An exhausted
// meter is reported in any case, because it ends the evaluation of all further rules.
func (e *evaluator) checkRule(r Rule, state json.RawMessage, malformed bool) (v Violation, ok bool) {
	applies, err := e.holds(r.When)
	kept := !applies
	if err == nil && applies {
		kept, err = e.holds(r.Check)
	}
	switch {
	case err == nil && kept, err != nil && malformed && e.left > 0:
		return v, true
	case err != nil:
		return Violation{Rule: r.Name, Path: r.Path, Message: "cannot be checked: " + err.Error()}, false
	}
	allowed := e.fill(r.Allowed)
	if allowed == "" && r.Allowed != "" {
		allowed = "nothing"
	}
	return Violation{Rule: r.Name, Path: r.Path, Value: e.offending(r, state), Allowed: allowed, Message: e.fill(r.Message)}, false
}

// offending returns the value that violates a rule: what the rule's own expression gives, or else
// the member at its path. The latter is taken from the text, so that numbers keep their digits.
func (e *evaluator) offending(r Rule, state json.RawMessage) string {
	if r.Value != "" {
		if v, err := e.evaluate(r.Value); err == nil {
			return shorten(string(encode(v)), maxValue)
		}
	}
	raw := get(gjson.ParseBytes(state), r.Path).Raw
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return shorten(raw, maxValue)
	}
	return shorten(b.String(), maxValue)
}

// CheckOrder is the part of Check that does not depend on the new state: it reports a milestone
// whose previous step has neither a live milestone nor was skipped. A caller can ask it before it
// runs the command of a step.
func (d *Definition) CheckOrder(c Change) []Violation {
	t, known := d.trigger(c.Trigger)
	if d.Steps.Requires != requiresPrevious || !c.Place.Milestone || known && t.Exempt {
		return nil
	}
	before, ok := d.Steps.Previous(c.Place.Step)
	if !ok || slices.Contains(c.Live, before) || slices.Contains(c.Skipped, before) {
		return nil
	}
	allowed := "a checkpoint of " + d.Steps.say(before) + " first"
	var newest *int
	if len(c.Live) > 0 {
		newest = new(slices.Max(c.Live))
	}
	if next, ok := d.Steps.Next(newest, c.Skipped, -1); ok {
		allowed = d.Steps.say(next.Number)
	}
	return []Violation{{
		Rule: ruleStepOrder, Value: strconv.Itoa(c.Place.Step), Allowed: allowed,
		Message: fmt.Sprintf("%s needs a checkpoint of %s", d.Steps.say(c.Place.Step), d.Steps.say(before)),
	}}
}
