// Package bisect finds the step of a session that broke something: it runs a command over
// checkpoints in a scratch worktree, or evaluates an expression over their states. It touches
// neither the user's worktree nor the journal.
package bisect

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// Request is what `bisect` was asked for.
type Request struct {
	Session   string
	Good, Bad string // checkpoints; empty: the oldest and the newest
	Where     string // an expression that holds where it is good, instead of a command
	Command   []string
	Which     Which
	Order     Order
	IO        inspect.IO
	Tell      func(string) // a line for people before each run; nil: nobody reads it
}

// Which checkpoints are looked at.
type Which int

// The choices.
const (
	WhichMilestones Which = iota
	WhichAll
)

// Order in which they are looked at.
type Order int

// The choices.
const (
	OrderHalves Order = iota // halves what is open with each run
	OrderFirst               // from the oldest on: the first bad one, where it went back and forth
)

// Verdict on a checkpoint.
type Verdict string

// The verdicts.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip"
)

// Tried is one run.
type Tried struct {
	ID      name.ID `json:"id"`
	Label   string  `json:"label"`
	Verdict Verdict `json:"verdict"`
	Code    int     `json:"code"` // of the command; 0 for an expression
}

// Answer is what a bisect found.
type Answer struct {
	Session  name.Session          `json:"session"`
	Broke    *Culprit              `json:"broke"`    // null when skipped ones hide it
	Suspects []checkpoint.Labelled `json:"suspects"` // when skipped ones hide it: one of these broke it
	Good     *checkpoint.Labelled  `json:"good"`     // the newest good one before it; null when there is none
	Runs     []Tried               `json:"runs"`
	Steps    int                   `json:"steps"` // how many checkpoints were looked over
	Diff     string                `json:"diff"`  // the command that shows what changed; empty without
}

// Culprit is the step that broke it.
type Culprit struct {
	ID      name.ID `json:"id"`
	Label   string  `json:"label"`
	Step    int     `json:"step"`
	Message string  `json:"message"` // with an agent: the prompt
}

// search is a bisect on its way.
type search struct {
	s      *checkpoint.Service
	req    Request
	found  *checkpoint.Found // of the session
	steps  []*journal.Entry  // in the order of the job
	known  map[int]Verdict
	answer *Answer
	try    func(context.Context, *journal.Entry) (Verdict, int, error)
}

// Do looks for the first bad checkpoint.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	b := &search{s: s, req: req, known: map[int]Verdict{}, answer: &Answer{Runs: []Tried{}, Suspects: []checkpoint.Labelled{}}}
	if err := b.gather(ctx); err != nil {
		return nil, err
	}
	b.answer.Session, b.answer.Steps = b.found.Session, len(b.steps)
	if req.Where != "" {
		fits, err := inspect.Where(req.Where)
		if err != nil {
			return nil, err
		}
		b.try = b.evaluate(fits)
		return b.answer, b.run(ctx)
	}
	scratch, err := newScratch(ctx, s, b.steps[0])
	if err != nil {
		return nil, err
	}
	b.try = func(ctx context.Context, e *journal.Entry) (Verdict, int, error) { return scratch.test(ctx, e, req) }
	err = b.run(ctx)
	if closed := scratch.close(context.WithoutCancel(ctx)); err == nil {
		err = closed
	}
	return b.answer, err
}

// gather lists the checkpoints between good and bad.
func (b *search) gather(ctx context.Context) error {
	var err error
	if b.found, err = b.s.Resolve(ctx, b.req.Session, b.req.Bad); err != nil {
		return err
	}
	var good *checkpoint.Found
	if b.req.Good != "" {
		if good, err = b.s.Resolve(ctx, string(b.found.Session), b.req.Good); err != nil {
			return err
		}
		if good.Session != b.found.Session {
			return checkpoint.Usage("", "%s and %s are of different sessions", good.Entry.Label, b.found.Entry.Label)
		}
	}
	seen := map[name.ID]bool{} // a forged journal may go in a circle
	reached := good == nil
	for e := b.found.Entry; e != nil && !seen[e.Checkpoint]; e = b.found.State.Entry(e.Event().Previous) {
		seen[e.Checkpoint] = true
		ends := b.req.Bad != "" && e == b.found.Entry || good != nil && e.Checkpoint == good.Entry.Checkpoint
		if !e.Dead && !e.Safety && (ends || e.Milestone || b.req.Which == WhichAll) {
			b.steps = append(b.steps, e)
		}
		if good != nil && e.Checkpoint == good.Entry.Checkpoint {
			reached = true
			break
		}
	}
	slices.Reverse(b.steps)
	if !reached {
		return checkpoint.Usage("the good one comes first: git checkpoint list", "%s does not come before %s", good.Entry.Label, b.found.Entry.Label)
	}
	return b.setEnds(good)
}

// setEnds notes what the person said of the first and the last checkpoint.
func (b *search) setEnds(good *checkpoint.Found) error {
	if len(b.steps) < 2 {
		return &checkpoint.Error{Kind: checkpoint.KindNothing, Message: "there is only one checkpoint to look at", Hints: []string{"--all looks at those that are no milestones too"}}
	}
	if good != nil {
		b.known[0] = Good
	}
	if b.req.Bad != "" {
		b.known[len(b.steps)-1] = Bad
	}
	return nil
}

// run looks until what broke it is known.
func (b *search) run(ctx context.Context) error {
	search := b.narrow
	if b.req.Order == OrderFirst {
		search = b.walk
	}
	low, high, err := search(ctx)
	if err != nil {
		return err
	}
	return b.broken(ctx, low, high)
}

// walk goes from the oldest on to the first bad one.
func (b *search) walk(ctx context.Context) (last, bad int, err error) {
	last = -1
	for i := range b.steps {
		verdict, err := b.look(ctx, i)
		if err != nil {
			return 0, 0, err
		}
		switch verdict {
		case Good:
			last = i
		case Bad:
			return last, i, nil
		case Skip: // it stays between
		}
	}
	return 0, 0, nothingBroke(b.found.Session)
}

func nothingBroke(session name.Session) error {
	return &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no checkpoint of session %q is bad", session), Hints: []string{"--bad names one that is"}}
}

// narrow looks at the newest, unless somebody said that it is bad, then at the middle of what
// is open: ⌈log2 n⌉ + 1 runs. A skipped one is passed over for its nearest neighbour.
func (b *search) narrow(ctx context.Context) (low, high int, err error) {
	low, high = -1, len(b.steps)-1
	if b.known[0] == Good {
		low = 0
	}
	verdict, err := b.look(ctx, high)
	if err != nil {
		return 0, 0, err
	}
	if verdict != Bad {
		return 0, 0, nothingBroke(b.found.Session)
	}
	for high-low > 1 {
		at := b.middle(low, high)
		if at < 0 {
			break // all between are skipped
		}
		if verdict, err = b.look(ctx, at); err != nil {
			return 0, 0, err
		}
		switch verdict {
		case Good:
			low = at
		case Bad:
			high = at
		case Skip: // it stays between
		}
	}
	return low, high, nil
}

// middle is the open one that is nearest to the middle; -1 when none is open.
func (b *search) middle(low, high int) int {
	centre, best := (low+high)/2, -1
	for i := low + 1; i < high; i++ {
		if b.known[i] == "" && (best < 0 || distance(i, centre) < distance(best, centre)) {
			best = i
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// look gives the verdict on a checkpoint, by a run unless it is known.
func (b *search) look(ctx context.Context, i int) (Verdict, error) {
	if v := b.known[i]; v != "" {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return "", checkpoint.Classify(context.Cause(ctx))
	}
	e := b.steps[i]
	verdict, code, err := b.try(ctx, e)
	if err != nil {
		return "", err
	}
	b.known[i] = verdict
	b.answer.Runs = append(b.answer.Runs, Tried{ID: e.Checkpoint, Label: e.Label, Verdict: verdict, Code: code})
	if b.req.Tell != nil {
		b.req.Tell(fmt.Sprintf("%s is %s", e.Label, said(verdict)))
	}
	return verdict, nil
}

func said(v Verdict) string {
	if v == Skip {
		return "skipped"
	}
	return string(v)
}

// broken completes the answer: high is the first bad one, low the last good one or -1.
func (b *search) broken(ctx context.Context, low, high int) error {
	label := func(i int) checkpoint.Labelled {
		return checkpoint.Labelled{ID: b.steps[i].Checkpoint, Label: b.steps[i].Label}
	}
	if low >= 0 {
		good := label(low)
		b.answer.Good = &good
		b.answer.Diff = fmt.Sprintf("git checkpoint diff %s %s --patch", b.steps[low].Checkpoint, b.steps[high].Checkpoint)
	}
	if high-low > 1 { // skipped ones lie between
		for i := low + 1; i <= high; i++ {
			b.answer.Suspects = append(b.answer.Suspects, label(i))
		}
		return nil
	}
	e := b.steps[high]
	rec, _, _, err := b.s.ReadRecord(ctx, e)
	if err != nil {
		return checkpoint.DamagedError(e, err)
	}
	b.answer.Broke = &Culprit{ID: e.Checkpoint, Label: e.Label, Step: e.Step, Message: rec.Message}
	return nil
}

// evaluate judges by an expression over the record.
func (b *search) evaluate(fits *workflow.Condition) func(context.Context, *journal.Entry) (Verdict, int, error) {
	return func(ctx context.Context, e *journal.Entry) (Verdict, int, error) {
		_, raw, _, err := b.s.ReadRecord(ctx, e)
		if err != nil {
			return "", 0, checkpoint.DamagedError(e, err)
		}
		holds, err := fits.Holds(raw, map[string]any{})
		switch {
		case err != nil:
			return "", 0, checkpoint.Usage("", "--where: %v", err)
		case holds:
			return Good, 0, nil
		}
		return Bad, 0, nil
	}
}
