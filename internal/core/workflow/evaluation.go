package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

// evaluation holds the variables of resumeScope. They depend on each other and are set in this
// order: steps, completed, pending, progress (done and total), point.
type evaluation struct {
	*evaluator
	d *Definition
}

// newEvaluation sets the variables for s. If only is not empty, it is the one template that will be
// filled: the variables that are expensive in a long session (4 ms at 10,000 steps) are left out unless
// the template mentions one of them.
func (d *Definition) newEvaluation(s Situation, current json.RawMessage, only string) *evaluation {
	state := value(s.State)
	if state == nil {
		state = map[string]any{}
	}
	e := &evaluation{d: d}
	e.evaluator = d.evaluatorOver(resumeScope(), map[string]any{
		"state": state, "former": value(s.Former), "error": value(s.Error), "current": value(current),
		"status": s.Status, "session": s.Session, "workflow": d.Name, "branch": s.Branch, "files": listOf(s.Changed),
		"age": sayRough(s.Age), "step": s.Place.Step, "step_name": s.Place.Name, "point": "", "next_step": nil, "next_name": "",
	}, s.State, s.Former, s.Error, current)
	// Where work went back to an earlier step of a list, the next step follows that one.
	var last *int
	if n := len(s.Live); n > 0 {
		last = &s.Live[n-1]
	}
	if next, ok := d.Steps.Next(last, s.Skipped, s.Highest); ok {
		e.vars["next_step"], e.vars["next_name"] = next.Number, next.Name
	}
	if only != "" && !counted().MatchString(only) {
		return e
	}
	e.steps(s)
	r := &d.Resumption
	e.vars["completed"], e.vars["pending"] = asAny(e.value(r.Completed)), asAny(e.value(r.Pending))
	e.vars["done"], e.vars["total"] = e.value(r.Progress.Done), e.value(r.Progress.Total)
	e.vars["point"] = e.fill(cmp.Or(r.answer(d.standing(s)).Point, r.Point))
	return e
}

// steps sets steps_done and steps_left, which do not depend on the state.
func (e *evaluation) steps(s Situation) {
	name := func(n int) string {
		called := e.d.Steps.nameOf(n)
		if called == "" && s.Named != nil {
			called = s.Named(n)
		}
		return cmp.Or(called, "step "+strconv.Itoa(n))
	}
	done, left := make([]any, 0, len(s.Live)), []any{}
	done = append(done, gather.List(slices.Compact(slices.Sorted(slices.Values(s.Live))), func(n int) any { return name(n) })...)
	for _, step := range e.d.Steps.List {
		if !slices.Contains(s.Live, step.Number) && !slices.Contains(s.Skipped, step.Number) {
			left = append(left, name(step.Number))
		}
	}
	e.vars["steps_done"], e.vars["steps_left"] = done, left
}

// counted matches the variables that newEvaluation can leave out.
var counted = lazy.Pattern(`steps_done|steps_left|completed|pending|done|total|point`)

// value evaluates an expression. It returns nil if the expression fails on this state, for example
// because a member is missing.
func (e *evaluation) value(text string) any {
	v, err := e.evaluate(text)
	if err != nil {
		return nil
	}
	return v
}

// asItems returns a list as it is and any other value as a list with one item; nil is empty.
func asItems(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// asAny replaces nil with an empty list, so that expressions can loop over the result.
func asAny(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

// Items are values that are encoded only where they are needed: a long session has ten thousand
// finished steps, of which a report shows the last few.
type Items []any

// Last returns the last n of them as JSON, all of them if there are fewer.
func (l Items) Last(n int) []json.RawMessage { return raws([]any(l[max(len(l)-n, 0):])) }

// MarshalJSON returns all of them as a list.
func (l Items) MarshalJSON() ([]byte, error) { return encode(l.Last(len(l))), nil }

// raws encodes each item of a list as JSON.
func raws(v any) []json.RawMessage {
	items := asItems(v)
	return gather.List(items, encode)
}

// count converts a value to a number of things, 0 if it is not a non-negative number.
func count(v any) int {
	n, err := number(v)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int(n)
}

// rawOf returns a copy of the text of a member, or nil if the member is absent or null.
func rawOf(v gjson.Result) json.RawMessage {
	if !v.Exists() || v.Type == gjson.Null {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// rawAt is rawOf for the member at path.
func rawAt(document json.RawMessage, path string) json.RawMessage {
	return rawOf(gjson.GetBytes(document, path))
}

// sayRough formats an age in whole units of the largest one that fits: s, min, h or days.
func sayRough(age time.Duration) string {
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s", int(age.Seconds()))
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d days", int(age.Hours()/24))
}
