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

// PlaceRequest asks where a new checkpoint stands. What the caller was not told is
// nil or "".
type PlaceRequest struct {
	// Trigger of the checkpoint.
	Trigger string
	// Step, Name and Iteration as given on the command line.
	Step      *int
	Name      string
	Iteration string
	// Document is what a document handed in with this checkpoint says; nil when
	// the state is carried on from the checkpoint before.
	Document *Facts
	// State is the state of the new checkpoint, edits done.
	State json.RawMessage
	// Last is the step of the newest live milestone, nil when there is none.
	Last *int
	// Milestones gives the iterations of a step's live milestones, "" for one without,
	// and the name of the newest; nil when there are none at all.
	Milestones func(step int) (iterations []string, name string)
	// Skipped are steps that somebody decided to do without.
	Skipped []int
}

func (r PlaceRequest) live(step int) []string {
	if r.Milestones == nil {
		return nil
	}
	iterations, _ := r.Milestones(step)
	return iterations
}

func (r PlaceRequest) named(step int) string {
	if r.Milestones == nil {
		return ""
	}
	_, named := r.Milestones(step)
	return named
}

// Place is where a checkpoint stands. One that is no milestone hangs on Step and
// has no iteration; which number it has among those is the caller's to count.
type Place struct {
	Step      int
	Name      string
	Iteration string
	Milestone bool
}

// rounds is the number of the iteration, 0 for none and for a word such as final.
func (p Place) rounds() int {
	n, err := strconv.Atoi(p.Iteration)
	if err != nil {
		return 0
	}
	return n
}

// PlaceError refuses a place that the workflow does not have.
type PlaceError struct {
	// Problem says what is wrong, Allowed what would be allowed.
	Problem, Allowed string
}

// Error says both.
func (e *PlaceError) Error() string {
	if e.Allowed == "" {
		return e.Problem
	}
	return e.Problem + "; allowed: " + e.Allowed
}

// Place decides, in this order: an explicit step or a name that is one makes a
// milestone of it; the phase that the document (or, where the workflow follows it,
// the state) names is the step, and further checkpoints within it hang on it; else
// a trigger that is a milestone takes the next step, and another hangs on the last.
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
		live := len(r.live(*phase.Step)) > 0
		iterates := t.Again == againIterate || d.iterates(*phase.Step) && r.Document != nil
		if live && !iterates || !t.Milestone && (live || !t.NewPhase || r.Document == nil) {
			return d.hang(*phase.Step, r)
		}
		return d.milestone(*phase.Step, r, phase)
	case t.Milestone:
		next, ok := d.Next(r.Last, r.Skipped)
		if !ok {
			return Place{}, &PlaceError{"no step comes after " + d.lastOf(r.Last), "--step with one of " + d.known()}
		}
		return d.milestone(next.Number, r, phase)
	case r.Last != nil:
		return d.hang(*r.Last, r)
	}
	return d.hang(0, r)
}

// phaseOf gives what counts as the state's own word on the step.
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

// round is the iteration of a milestone: the one asked for, the one that the
// document counts, else the next.
func (d *Definition) round(step int, r PlaceRequest, phase Facts) (string, error) {
	live := r.live(step)
	counts := d.iterates(step) && phase.Iteration != "" && phase.Step != nil && *phase.Step == step
	switch {
	case r.Iteration != "" && !isIteration(r.Iteration):
		return "", &PlaceError{fmt.Sprintf("%q is no iteration", shorten(r.Iteration, 60)), "a number or a word of a-z 0-9 _ -, at most 20"}
	case r.Iteration != "" && slices.Contains(live, r.Iteration):
		return "", &PlaceError{fmt.Sprintf("iteration %s of %s is there already", r.Iteration, d.say(step)), d.iteration(step, live)}
	case r.Iteration != "":
		return r.Iteration, nil
	case counts && !slices.Contains(live, phase.Iteration):
		return phase.Iteration, nil
	}
	return d.iteration(step, live), nil
}

func (d *Definition) hang(step int, r PlaceRequest) (Place, error) {
	if r.Iteration != "" {
		return Place{}, &PlaceError{"an iteration belongs to a step", "--iteration together with --step"}
	}
	if step != 0 && !d.has(step) {
		return Place{}, &PlaceError{fmt.Sprintf("there is no step %d", step), d.known()}
	}
	return Place{Step: step, Name: cmp.Or(d.nameOf(step), r.named(step))}, nil
}

// iteration is what comes after the live ones: nothing for the first time, unless
// the step iterates.
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

func isIteration(s string) bool {
	return len(s) <= 20 && only(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") && !strings.HasPrefix(s, "-")
}

// Next is the step after last (nil: the first one) that nobody skipped; ok is
// false at the end of a closed list.
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

// Previous is the step before n, and false when n is the first.
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

// lastOf names the step that nothing comes after.
func (d *Definition) lastOf(last *int) string {
	if last == nil {
		return "what was skipped"
	}
	return d.say(*last)
}

func (d *Definition) after(n int) (int, bool) {
	for _, s := range d.Steps.List {
		if s.Number > n {
			return s.Number, true
		}
	}
	return n + 1, d.isOpen() && n < maxStepNumber
}

func (d *Definition) isOpen() bool { return d.Steps.Open || len(d.Steps.List) == 0 }

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

// has accepts any number of open steps, 0 too: an explicit choice is not argued with.
func (d *Definition) has(n int) bool { return d.isListed(n) || d.isOpen() }

func (d *Definition) step(n int) Step {
	for _, s := range d.Steps.List {
		if s.Number == n {
			return s
		}
	}
	return Step{Number: n, Name: d.patterned(n)}
}

func (d *Definition) patterned(n int) string {
	return strings.Replace(d.Steps.Pattern, stepNumber, strconv.Itoa(n), 1)
}

func (d *Definition) nameOf(n int) string {
	if !d.has(n) || n < d.first() {
		return ""
	}
	return d.step(n).Name
}

func (d *Definition) iterates(n int) bool { return d.step(n).Iterates }

// numberOf finds the step that a name means.
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

// say names a step for a message.
func (d *Definition) say(n int) string {
	if called := d.nameOf(n); called != "" {
		return fmt.Sprintf("step %d (%s)", n, called)
	}
	return fmt.Sprintf("step %d", n)
}

// known lists the steps there are.
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
