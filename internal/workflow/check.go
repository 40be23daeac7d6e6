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
	Rule string `json:"rule"`
	// Path is the member of the state, "" for the whole state.
	Path string `json:"path"`
	// Value is the value found there, as JSON cut to 200 bytes; "" if there is none.
	Value string `json:"value"`
	// Allowed describes what would be allowed.
	Allowed string `json:"allowed"`
	// Message describes what is wrong. It reads as a predicate: "is missing".
	Message string `json:"message"`
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
	// OldStatus is "" if there is no current checkpoint.
	OldStatus, NewStatus string
	// Place is where the new checkpoint stands, Trigger what caused it.
	Place   Place
	Trigger string
	Session string
	// Topic is the description that the session was started with.
	Topic string
	// Handed means that a document was passed with this checkpoint.
	Handed bool
	// Live are the steps that have a live milestone. Skipped are the steps that the user decided to
	// do without.
	Live, Skipped []int
	// Now and the time at which the session started are for rules about time, in whole seconds.
	Now, Started time.Time
}

// Check returns every rule that the change breaks, at most maxViolations: the schema, the status
// and its transition, the workflow's own rules, and the order of steps. A rule that cannot be
// evaluated counts as broken, unless the schema has already reported that the state is malformed.
func (d *Definition) Check(c Change) []Violation {
	if t, known := d.trigger(c.Trigger); known && t.Exempt {
		return nil
	}
	v, broken := newVariables(c)
	if broken != nil {
		return broken
	}
	found := d.checkSchema(v.new, len(c.New))
	malformed := len(found) > 0
	found = append(found, d.checkStatus(c)...)
	found = append(found, d.checkRules(c, v, malformed)...)
	found = append(found, d.checkOrder(c)...)
	return found[:min(len(found), maxViolations)]
}

// HasRules reports whether the workflow has rules of its own. Of what Check does
// only they look at Change.Old, so without them a caller of Check need not read it.
func (d *Definition) HasRules() bool { return len(d.Rules) > 0 }

// variables are the decoded states of a change.
type variables struct{ old, new any }

// newVariables decodes the new state. The old one is left to checkRules and Derive, which need it
// only if the workflow has rules or derivations.
func newVariables(c Change) (variables, []Violation) {
	v := variables{}
	fresh := c.New
	if len(fresh) == 0 {
		fresh = json.RawMessage("{}")
	}
	decoded, err := decode(fresh, maxDocumentSize)
	if err != nil {
		return v, []Violation{{Rule: ruleState, Allowed: "a JSON object", Message: "is " + err.Error()}}
	}
	if _, ok := decoded.(map[string]any); !ok {
		return v, []Violation{{Rule: ruleState, Value: shorten(string(fresh), maxValue), Allowed: "a JSON object", Message: "is " + kind(decoded)}}
	}
	v.new = decoded
	return v, nil
}

// ruleVariables returns the variables of the scope of rules, including the definition's values. A
// value that cannot be computed over this state is nil. Values do not see each other: all of them
// are computed before any is added.
func (d *Definition) ruleVariables(m *meter, v variables, c Change) map[string]any {
	vars := map[string]any{
		"old": v.old, "new": v.new, "status": c.NewStatus, "old_status": c.OldStatus,
		"trigger": c.Trigger, "session": c.Session,
		"step": c.Place.Step, "step_name": c.Place.Name, "iteration": c.Place.Iteration, "rounds": c.Place.rounds(), "milestone": c.Place.Milestone,
		"topic": c.Topic, "handed": c.Handed,
		"live": integers(c.Live), "skipped": integers(c.Skipped),
		"now": int(c.Now.Unix()), "started": int(max(0, c.Started.Unix())),
	}
	computed := make(map[string]any, len(d.Values))
	for _, name := range sortedKeys(d.Values) {
		computed[name], _ = d.evaluate(m, ruleScope(), d.Values[name], vars)
	}
	maps.Copy(vars, computed)
	return vars
}

// integers converts a list of steps to a list that expressions can use.
func integers(numbers []int) []any {
	items := make([]any, len(numbers))
	for i, n := range numbers {
		items[i] = n
	}
	return items
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
func (d *Definition) checkRules(c Change, v variables, malformed bool) []Violation {
	if !d.HasRules() {
		return nil // what they look at grows with the session
	}
	var found []Violation
	m := newMeter(c.Old, c.New)
	v.old = value(c.Old)
	vars := d.ruleVariables(m, v, c)
	for _, r := range d.Rules {
		if violation, ok := d.checkRule(m, r, vars, c.New, malformed); !ok {
			found = append(found, violation)
		}
	}
	return found
}

// checkRule evaluates one rule; ok is false if it is broken. On a malformed state an expression
// fails for reasons that the schema has already reported, so such errors are ignored. An exhausted
// meter is reported in any case, because it ends the evaluation of all further rules.
func (d *Definition) checkRule(m *meter, r Rule, vars map[string]any, state json.RawMessage, malformed bool) (Violation, bool) {
	applies, err := d.holds(m, d.ruleScope(), r.When, vars)
	if err == nil && !applies {
		return Violation{}, true
	}
	if err == nil {
		var kept bool
		if kept, err = d.holds(m, d.ruleScope(), r.Check, vars); err == nil && kept {
			return Violation{}, true
		}
	}
	if err != nil {
		if malformed && m.left > 0 {
			return Violation{}, true
		}
		return Violation{Rule: r.Name, Path: r.Path, Message: "cannot be checked: " + err.Error()}, false
	}
	allowed := d.fill(m, d.ruleScope(), r.Allowed, vars)
	if allowed == "" && r.Allowed != "" {
		allowed = "nothing"
	}
	return Violation{
		Rule: r.Name, Path: r.Path, Value: d.offending(m, r, vars, state),
		Allowed: allowed, Message: d.fill(m, d.ruleScope(), r.Message, vars),
	}, false
}

// offending returns the value that violates a rule: what the rule's own expression gives, or else
// the member at its path. The latter is taken from the text, so that numbers keep their digits.
func (d *Definition) offending(m *meter, r Rule, vars map[string]any, state json.RawMessage) string {
	if r.Value != "" {
		if v, err := d.evaluate(m, d.ruleScope(), r.Value, vars); err == nil {
			return shorten(string(encode(v)), maxValue)
		}
	}
	if r.Path == "" {
		return ""
	}
	var b bytes.Buffer
	if raw := gjson.GetBytes(state, r.Path).Raw; json.Compact(&b, []byte(raw)) != nil {
		return shorten(raw, maxValue)
	}
	return shorten(b.String(), maxValue)
}

// checkOrder reports a milestone whose previous step has neither a live milestone nor was skipped.
func (d *Definition) checkOrder(c Change) []Violation {
	if d.Steps.Requires != requiresPrevious || !c.Place.Milestone {
		return nil
	}
	before, ok := d.Previous(c.Place.Step)
	if !ok || slices.Contains(c.Live, before) || slices.Contains(c.Skipped, before) {
		return nil
	}
	allowed := "a checkpoint of " + d.say(before) + " first"
	if next, ok := d.Next(newest(c.Live), c.Skipped); ok {
		allowed = d.say(next.Number)
	}
	return []Violation{{
		Rule: ruleStepOrder, Value: strconv.Itoa(c.Place.Step), Allowed: allowed,
		Message: fmt.Sprintf("%s needs a checkpoint of %s", d.say(c.Place.Step), d.say(before)),
	}}
}

// newest returns the highest step, nil if there is none.
func newest(live []int) *int {
	if len(live) == 0 {
		return nil
	}
	n := slices.Max(live)
	return &n
}
