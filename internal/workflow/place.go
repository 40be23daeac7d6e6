package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/name"
)

// PlaceRequest asks where a new checkpoint stands. What the caller does not know is nil or "".
type PlaceRequest struct {
	// Trigger is the name of the trigger.
	Trigger string
	// Step, Name and Iteration are as given on the command line.
	Step      *int
	Name      string
	Iteration string
	// Document has the facts of a document passed with this checkpoint. It is nil if the state is
	// carried over from the previous checkpoint.
	Document *Facts
	// State is the state of the new checkpoint, with all edits applied.
	State json.RawMessage
	// Last is the step that the current line of work stands at, nil if there is none.
	Last *int
	// Milestones returns the iterations of the live milestones of a step ("" for a milestone
	// without one) and the step name of the newest. A nil function means that there are no
	// milestones at all.
	Milestones func(step int) (iterations []string, name string)
	// Skipped are the steps that the user decided to do without.
	Skipped []int
}

// live returns the iterations of the live milestones of a step; it is empty if there are none.
func (r PlaceRequest) live(step int) []string {
	if r.Milestones == nil {
		return nil
	}
	iterations, _ := r.Milestones(step)
	return iterations
}

// named returns the name that the newest live milestone gave to a step.
func (r PlaceRequest) named(step int) string {
	if r.Milestones == nil {
		return ""
	}
	_, named := r.Milestones(step)
	return named
}

// Place is where a checkpoint stands. A checkpoint that is not a milestone hangs on Step and has no
// iteration; the caller numbers such checkpoints.
type Place struct {
	Step      int
	Name      string
	Iteration string
	Milestone bool
}

// rounds is the iteration as a number. It is 0 if there is none or if it is a word such as "final".
func (p Place) rounds() int {
	n, err := strconv.Atoi(p.Iteration)
	if err != nil {
		return 0
	}
	return n
}

// PlaceError rejects a place that does not exist in the workflow.
type PlaceError struct {
	// Problem tells what is wrong, Allowed what would be allowed; Allowed may be "".
	Problem, Allowed string
}

// Error returns both parts.
func (e *PlaceError) Error() string {
	if e.Allowed == "" {
		return e.Problem
	}
	return e.Problem + "; allowed: " + e.Allowed
}

// Place decides where a checkpoint stands. The first of these cases that applies counts:
//
//  1. A step that was given, by number or by its name, becomes a milestone of that step.
//  2. The document (or the state, if the workflow follows it) names a step. The checkpoint is a
//     milestone if the trigger or a new phase calls for one, and otherwise hangs on that step.
//     This case is skipped for a trigger that always hangs on the last step.
//  3. A trigger that makes milestones takes the next step.
//  4. Any other trigger hangs on the last step, or on step 0 if there is none.
//
// Errors are *UnknownTrigger, *PlaceError, or *StateError for a state that cannot be read.
func (d *Definition) Place(r PlaceRequest) (Place, error) {
	t, known := d.trigger(r.Trigger)
	if !known {
		return Place{}, &UnknownTrigger{r.Trigger, d.TriggerNames()}
	}
	phase, err := d.phaseOf(r)
	if err != nil {
		return Place{}, err
	}
	step := r.Step
	if n, ok := d.numberOf(r.Name); ok && step == nil {
		step = &n
	}
	switch {
	case step != nil:
		return d.milestone(*step, r, phase)
	case phase.Step != nil && t.Hangs != hangsLast:
		// A live step gets another milestone only if it is repeated in rounds. A step that is not
		// live gets one only from a milestone trigger, or from a document and a trigger that opens
		// new phases.
		live := len(r.live(*phase.Step)) > 0
		iterates := t.Again == againIterate || d.iterates(*phase.Step) && r.Document != nil
		if live && !iterates || !t.Milestone && (live || !t.NewPhase || r.Document == nil) {
			return d.hang(*phase.Step, r)
		}
		return d.milestone(*phase.Step, r, phase)
	case t.Milestone:
		next, ok := d.Next(r.Last, r.Skipped)
		if !ok {
			return Place{}, &PlaceError{"there is no step after " + d.lastOf(r.Last), "--step with one of " + d.known()}
		}
		return d.milestone(next.Number, r, phase)
	case r.Last != nil:
		return d.hang(*r.Last, r)
	}
	return d.hang(0, r)
}

// phaseOf returns the facts that determine the step when none is given. They are empty if neither a
// document was passed nor the workflow follows the state. The edited state has precedence over the
// document that it came from.
func (d *Definition) phaseOf(r PlaceRequest) (Facts, error) {
	if r.Document == nil && d.Steps.Follow != followState || len(r.State) == 0 {
		return Facts{}, nil
	}
	facts, err := d.Read(r.State)
	if err != nil {
		return Facts{}, err
	}
	if r.Document == nil {
		return facts, nil
	}
	if facts.Step == nil {
		facts.Step, facts.StepName = r.Document.Step, r.Document.StepName
	}
	if facts.Iteration == "" {
		facts.Iteration = r.Document.Iteration
	}
	return facts, nil
}

// milestone returns the place of a milestone at step. Its name is the workflow's, or else the one
// given on the command line, the document's, or that of an earlier milestone of the step. A given
// name that contradicts the workflow's is an error.
func (d *Definition) milestone(step int, r PlaceRequest, phase Facts) (Place, error) {
	if step < 0 || step > maxStepNumber || !d.has(step) {
		return Place{}, &PlaceError{fmt.Sprintf("there is no step %d", step), d.known()}
	}
	p := Place{Step: step, Name: d.nameOf(step), Milestone: true}
	switch {
	case p.Name == "" && r.Name != "":
		p.Name = r.Name
	case p.Name == "" && phase.Step != nil && *phase.Step == step:
		p.Name = cmp.Or(phase.StepName, r.named(step))
	case p.Name == "":
		p.Name = r.named(step)
	case r.Name != "" && name.Slug(r.Name) != name.Slug(p.Name):
		return Place{}, &PlaceError{fmt.Sprintf("step %d is %q, not %q", step, p.Name, shorten(r.Name, 60)), d.known()}
	}
	iteration, err := d.round(step, r, phase)
	p.Iteration = iteration
	return p, err
}

// round returns the iteration of a milestone: the one given on the command line, else the one that
// the document counts, if that is still free, else the next one.
func (d *Definition) round(step int, r PlaceRequest, phase Facts) (string, error) {
	live := r.live(step)
	counts := d.iterates(step) && phase.Iteration != "" && phase.Step != nil && *phase.Step == step
	switch {
	case r.Iteration != "" && !isIteration(r.Iteration):
		return "", &PlaceError{fmt.Sprintf("%q is not an iteration", shorten(r.Iteration, 60)), "a number or a word of a-z 0-9 _ -, at most 20"}
	case r.Iteration != "" && slices.Contains(live, r.Iteration):
		return "", &PlaceError{fmt.Sprintf("iteration %s of %s already exists", r.Iteration, d.say(step)), d.iteration(step, live)}
	case r.Iteration != "":
		return r.Iteration, nil
	case counts && !slices.Contains(live, phase.Iteration):
		return phase.Iteration, nil
	}
	return d.iteration(step, live), nil
}

// hang returns the place of a checkpoint that is attached to a step. Step 0 always exists: it is
// the place of checkpoints before the first step.
func (d *Definition) hang(step int, r PlaceRequest) (Place, error) {
	if r.Iteration != "" {
		return Place{}, &PlaceError{"an iteration belongs to a step", "--iteration together with --step"}
	}
	if step != 0 && !d.has(step) {
		return Place{}, &PlaceError{fmt.Sprintf("there is no step %d", step), d.known()}
	}
	return Place{Step: step, Name: cmp.Or(d.nameOf(step), r.named(step))}, nil
}

// iteration returns the iteration after the live ones: "" for the first milestone of a step, or "1"
// if the step iterates. A live milestone without an iteration counts as the first round, so the
// second one is "2". Words are ignored.
func (d *Definition) iteration(step int, live []string) string {
	if len(live) == 0 {
		if d.iterates(step) {
			return "1"
		}
		return ""
	}
	newest := 1
	if d.iterates(step) && !slices.Contains(live, "") {
		newest = 0
	}
	for _, word := range live {
		if n, err := strconv.Atoi(word); err == nil && n > newest && n < maxStepNumber {
			newest = n
		}
	}
	return strconv.Itoa(newest + 1)
}

// isIteration reports whether s can be an iteration. A leading "-" would look like a flag.
func isIteration(s string) bool {
	return len(s) <= 20 && only(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") && !strings.HasPrefix(s, "-")
}

// Next returns the first step after last that was not skipped. A nil last means that there is none
// yet. ok is false at the end of a closed list.
func (d *Definition) Next(last *int, skipped []int) (step Step, ok bool) {
	n := d.first() - 1
	if last != nil {
		n = *last
	}
	for {
		n, ok = d.after(n)
		if !ok {
			return Step{}, false
		}
		if !slices.Contains(skipped, n) {
			return d.step(n), true
		}
	}
}

// Previous returns the step before n; ok is false if n is the first step.
func (d *Definition) Previous(n int) (int, bool) {
	if len(d.Steps.List) == 0 || n > d.lastListed() {
		return n - 1, n > d.first()
	}
	before, ok := 0, false
	for _, s := range d.Steps.List {
		if s.Number < n {
			before, ok = s.Number, true
		}
	}
	return before, ok
}

// lastOf describes, for a message, the step that has no successor. Without a last step all of the
// list was skipped.
func (d *Definition) lastOf(last *int) string {
	if last == nil {
		return "what was skipped"
	}
	return d.say(*last)
}

// after returns the step number that follows n, skipped or not. ok is false if there is none.
func (d *Definition) after(n int) (int, bool) {
	for _, s := range d.Steps.List {
		if s.Number > n {
			return s.Number, true
		}
	}
	return n + 1, d.isOpen() && n < maxStepNumber
}

// isOpen reports whether steps outside the list are allowed.
func (d *Definition) isOpen() bool { return d.Steps.Open || len(d.Steps.List) == 0 }

// first returns the number of the first step.
func (d *Definition) first() int {
	switch {
	case len(d.Steps.List) > 0:
		return d.Steps.List[0].Number
	case d.Steps.First != nil:
		return *d.Steps.First
	}
	return 1
}

func (d *Definition) lastListed() int { return d.Steps.List[len(d.Steps.List)-1].Number }

func (d *Definition) isListed(n int) bool {
	return slices.ContainsFunc(d.Steps.List, func(s Step) bool { return s.Number == n })
}

// has reports whether a step exists. With open steps every number does, even one below the first: a
// number that the user gave explicitly is accepted.
func (d *Definition) has(n int) bool { return d.isListed(n) || d.isOpen() }

// step returns the entry of the list, or one with the generated name for an open step.
func (d *Definition) step(n int) Step {
	for _, s := range d.Steps.List {
		if s.Number == n {
			return s
		}
	}
	return Step{Number: n, Name: d.patterned(n)}
}

// patterned returns the name of an open step, "" if the workflow has no pattern.
func (d *Definition) patterned(n int) string {
	return strings.Replace(d.Steps.Pattern, stepNumber, strconv.Itoa(n), 1)
}

// nameOf returns the name of a step, "" if it has none.
func (d *Definition) nameOf(n int) string {
	if !d.has(n) || n < d.first() {
		return ""
	}
	return d.step(n).Name
}

func (d *Definition) iterates(n int) bool { return d.step(n).Iterates }

// numberOf returns the number of the step with the given name. Listed names are compared as slugs;
// a generated name must match the pattern exactly, so that "phase_02" is not "phase_2".
func (d *Definition) numberOf(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	for _, step := range d.Steps.List {
		if slug := name.Slug(s); slug != "" && name.Slug(step.Name) == slug {
			return step.Number, true
		}
	}
	before, after, ok := strings.Cut(d.Steps.Pattern, stepNumber)
	if !ok || !strings.HasPrefix(s, before) || !strings.HasSuffix(s, after) || len(s) < len(before)+len(after) {
		return 0, false
	}
	n, err := strconv.Atoi(s[len(before) : len(s)-len(after)])
	return n, err == nil && n >= 0 && n <= maxStepNumber && d.patterned(n) == s
}

// say formats a step for a message.
func (d *Definition) say(n int) string {
	if called := d.nameOf(n); called != "" {
		return fmt.Sprintf("step %d (%s)", n, called)
	}
	return fmt.Sprintf("step %d", n)
}

// known lists all steps for a message.
func (d *Definition) known() string {
	said := make([]string, 0, len(d.Steps.List)+1)
	for _, s := range d.Steps.List {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%d %s", s.Number, s.Name)))
	}
	if d.isOpen() {
		said = append(said, "any step of 0 or more")
	}
	return shorten(strings.Join(said, ", "), 2*maxValue)
}
