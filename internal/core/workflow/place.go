package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// PlaceRequest asks where a new checkpoint stands. What the caller does not know is nil or "".
type PlaceRequest struct {
	Trigger string // the name of the trigger
	// Step, Name and Iteration are as given on the command line.
	Step      *int
	Name      string
	Iteration string
	// Document has the facts of a document passed with this checkpoint. It is nil if the state is
	// carried over from the previous checkpoint.
	Document *Facts
	State    json.RawMessage // the state of the new checkpoint, with all edits applied
	Last     *int            // the step that the current line of work stands at, nil if there is none
	// Milestones returns the iterations of the live milestones of a step ("" for a milestone
	// without one) and the step name of the newest. A nil function means that there are no
	// milestones at all.
	Milestones func(step int) (iterations []string, name string)
	Skipped    []int // the steps that the user decided to do without
	// Highest is the highest step that the session ever named, live or not, and -1 or less for none.
	// Used returns the iterations of all milestones that a step ever had; nil: none. Both count
	// where numbers are never reused (Steps.Counts).
	Highest int
	Used    func(step int) []string
}

// milestones is Milestones for a caller that does not know whether it is nil.
func (r PlaceRequest) milestones(step int) (iterations []string, named string) {
	if r.Milestones == nil {
		return nil, ""
	}
	return r.Milestones(step)
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
	Problem, Allowed string // Problem tells what is wrong, Allowed what would be allowed; Allowed may be ""
}

// Error returns both parts.
func (e *PlaceError) Error() string {
	if e.Allowed == "" {
		return e.Problem
	}
	return e.Problem + "; allowed: " + e.Allowed
}

// Place decides where a checkpoint stands. The first of these cases that applies decides:
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
	if n, ok := d.Steps.numberOf(r.Name); ok && step == nil {
		step = &n
	}
	switch {
	case step != nil:
		return d.Steps.milestone(*step, r, phase)
	case phase.Step != nil && t.Hangs != hangsLast:
		// A live step gets another milestone only if it is repeated in rounds. A step that is not
		// live gets one only from a milestone trigger, or from a document and a trigger that opens
		// new phases.
		iterations, _ := r.milestones(*phase.Step)
		live := len(iterations) > 0
		iterates := t.Again == againIterate || d.Steps.iterates(*phase.Step) && r.Document != nil
		if live && !iterates || !t.Milestone && (live || !t.NewPhase || r.Document == nil) {
			return d.Steps.hang(*phase.Step, r)
		}
		return d.Steps.milestone(*phase.Step, r, phase)
	case t.Milestone:
		next, ok := d.Steps.Next(r.Last, r.Skipped, r.Highest)
		if !ok {
			return Place{}, &PlaceError{"there is no step after " + d.Steps.lastOf(r.Last), "--step with one of " + d.Steps.known()}
		}
		return d.Steps.milestone(next.Number, r, phase)
	case r.Last != nil:
		return d.Steps.hang(*r.Last, r)
	}
	return d.Steps.hang(0, r)
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
	facts.Iteration = cmp.Or(facts.Iteration, r.Document.Iteration)
	return facts, nil
}

// milestone returns the place of a milestone at step. Its name is the workflow's, or else the one
// given on the command line, the document's, or that of an earlier milestone of the step. A given
// name that contradicts the workflow's is an error.
func (s Steps) milestone(step int, r PlaceRequest, phase Facts) (Place, error) {
	if step < 0 || step > maxStepNumber || !s.has(step) {
		return Place{}, &PlaceError{fmt.Sprintf("there is no step %d", step), s.known()}
	}
	p := Place{Step: step, Name: s.nameOf(step), Milestone: true}
	live, named := r.milestones(step)
	switch {
	case p.Name == "" && r.Name != "":
		p.Name = r.Name
	case p.Name == "" && phase.Step != nil && *phase.Step == step:
		p.Name = cmp.Or(phase.StepName, named)
	case p.Name == "":
		p.Name = named
	case r.Name != "" && name.Slug(r.Name) != name.Slug(p.Name):
		return Place{}, &PlaceError{fmt.Sprintf("step %d is %q, not %q", step, p.Name, shorten(r.Name, 60)), s.known()}
	}
	iteration, err := s.round(step, live, r, phase)
	p.Iteration = iteration
	return p, err
}

// round returns the iteration of a milestone of a step whose live ones have the iterations in live:
// the one given on the command line, else the one that the document counts, if that is still free,
// else the next one. Where numbers are never reused, those that are not live any more are taken, too.
func (s Steps) round(step int, live []string, r PlaceRequest, phase Facts) (string, error) {
	if r.Used != nil && s.Counts() {
		live = r.Used(step)
	}
	counts := s.iterates(step) && phase.Iteration != "" && phase.Step != nil && *phase.Step == step
	switch {
	case r.Iteration != "" && !isIteration(r.Iteration):
		return "", &PlaceError{fmt.Sprintf("%q is not an iteration", shorten(r.Iteration, 60)), "a number or a word of a-z 0-9 _ -, at most 20"}
	case r.Iteration != "" && slices.Contains(live, r.Iteration):
		return "", &PlaceError{fmt.Sprintf("iteration %s of %s already exists", r.Iteration, s.say(step)), s.iteration(step, live)}
	case r.Iteration != "":
		return r.Iteration, nil
	case counts && !slices.Contains(live, phase.Iteration):
		return phase.Iteration, nil
	}
	return s.iteration(step, live), nil
}

// hang returns the place of a checkpoint that is attached to a step. Step 0 always exists: it is
// the place of checkpoints before the first step.
func (s Steps) hang(step int, r PlaceRequest) (Place, error) {
	if r.Iteration != "" {
		return Place{}, &PlaceError{"an iteration belongs to a step", "--iteration together with --step"}
	}
	if step != 0 && !s.has(step) {
		return Place{}, &PlaceError{fmt.Sprintf("there is no step %d", step), s.known()}
	}
	_, named := r.milestones(step)
	return Place{Step: step, Name: cmp.Or(s.nameOf(step), named)}, nil
}

// iteration returns the iteration after the live ones: "" for the first milestone of a step, or "1"
// if the step iterates. A live milestone without an iteration counts as the first round, so the
// second one is "2". Words are ignored.
func (s Steps) iteration(step int, live []string) string {
	if len(live) == 0 {
		if s.iterates(step) {
			return "1"
		}
		return ""
	}
	newest := 1
	if s.iterates(step) && !slices.Contains(live, "") {
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
	return len(s) <= 20 && hasOnly(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") && !strings.HasPrefix(s, "-")
}

// Counts reports whether a step is nothing but a number: it has no list, name, order or document to
// decide it. Such a number is never used again in a session, so that it names one checkpoint for ever.
func (s Steps) Counts() bool {
	return len(s.List) == 0 && s.Pattern == "" && s.Requires == "" && s.Follow == ""
}

// Next returns the first step after last that was not skipped. A nil last means that there is none
// yet. Where steps only count, it comes after highest, the highest that the session ever named, too.
// ok is false at the end of a closed list.
func (s Steps) Next(last *int, skipped []int, highest int) (step Step, ok bool) {
	n := s.first() - 1
	if last != nil {
		n = *last
	}
	if s.Counts() {
		n = max(n, highest)
	}
	for {
		n, ok = s.stepAfter(n)
		if !ok {
			return Step{}, false
		}
		if !slices.Contains(skipped, n) {
			return s.step(n), true
		}
	}
}

// Previous returns the step before n; ok is false if n is the first step.
func (s Steps) Previous(n int) (int, bool) {
	if len(s.List) == 0 || n > s.List[len(s.List)-1].Number {
		return n - 1, n > s.first()
	}
	before, ok := 0, false
	for _, one := range s.List {
		if one.Number < n {
			before, ok = one.Number, true
		}
	}
	return before, ok
}

// lastOf describes, for a message, the step that has no successor. Without a last step all of the
// list was skipped.
func (s Steps) lastOf(last *int) string {
	if last == nil {
		return "what was skipped"
	}
	return s.say(*last)
}

// stepAfter returns the step number that follows n, skipped or not. ok is false if there is none.
func (s Steps) stepAfter(n int) (int, bool) {
	for _, one := range s.List {
		if one.Number > n {
			return one.Number, true
		}
	}
	return n + 1, s.isOpen() && n < maxStepNumber
}

// isOpen reports whether steps outside the list are allowed.
func (s Steps) isOpen() bool { return s.Open || len(s.List) == 0 }

// first returns the number of the first step.
func (s Steps) first() int {
	switch {
	case len(s.List) > 0:
		return s.List[0].Number
	case s.First != nil:
		return *s.First
	}
	return 1
}

// has reports whether a step exists. With open steps every number does, even one below the first: a
// number that the user gave explicitly is accepted.
func (s Steps) has(n int) bool {
	return s.isOpen() || slices.ContainsFunc(s.List, func(s Step) bool { return s.Number == n })
}

// step returns the entry of the list, or one with the generated name for an open step.
func (s Steps) step(n int) Step {
	if i := slices.IndexFunc(s.List, func(s Step) bool { return s.Number == n }); i >= 0 {
		return s.List[i]
	}
	return Step{Number: n, Name: s.patterned(n)}
}

// patterned returns the name of an open step, "" if the workflow has no pattern.
func (s Steps) patterned(n int) string {
	return strings.Replace(s.Pattern, stepNumber, strconv.Itoa(n), 1)
}

// nameOf returns the name of a step, "" if it has none.
func (s Steps) nameOf(n int) string {
	if !s.has(n) || n < s.first() {
		return ""
	}
	return s.step(n).Name
}

func (s Steps) iterates(n int) bool { return s.step(n).Iterates }

// numberOf returns the number of the step with the given name. Listed names are compared as slugs;
// a generated name must match the pattern exactly, so that "phase_02" is not "phase_2".
func (s Steps) numberOf(called string) (int, bool) {
	if called == "" {
		return 0, false
	}
	for _, step := range s.List {
		if slug := name.Slug(called); slug != "" && name.Slug(step.Name) == slug {
			return step.Number, true
		}
	}
	before, after, ok := strings.Cut(s.Pattern, stepNumber)
	if !ok || !strings.HasPrefix(called, before) || !strings.HasSuffix(called, after) || len(called) < len(before)+len(after) {
		return 0, false
	}
	n, err := strconv.Atoi(called[len(before) : len(called)-len(after)])
	return n, err == nil && n >= 0 && n <= maxStepNumber && s.patterned(n) == called
}

// say formats a step for a message.
func (s Steps) say(n int) string {
	if called := s.nameOf(n); called != "" {
		return fmt.Sprintf("step %d (%s)", n, called)
	}
	return fmt.Sprintf("step %d", n)
}

// known lists all steps for a message.
func (s Steps) known() string {
	said := gather.List(s.List, func(one Step) string { return strings.TrimSpace(fmt.Sprintf("%d %s", one.Number, one.Name)) })
	if s.isOpen() {
		said = append(said, "any step of 0 or more")
	}
	return shorten(strings.Join(said, ", "), 2*maxValue)
}
