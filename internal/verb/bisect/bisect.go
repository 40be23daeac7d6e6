// Package bisect finds the step of a session that broke something. It runs a command on
// checkpoints, in a scratch worktree (scratch.go), or evaluates an expression on their
// records. It changes neither the user's worktree nor the journal.
//
// Do gathers the checkpoints between good and bad, searches either by halving or from the
// oldest on, and reports the first bad one. Skipped checkpoints may hide it; then the
// answer lists suspects.
package bisect

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
)

// Request holds the options of `bisect`.
type Request struct {
	Session   string
	Good, Bad string // checkpoints; empty: unknown, search from the oldest to the newest
	// An expression that holds where it is good; replaces the command.
	Where   string
	Command []string
	All     bool // look also at checkpoints that are not milestones, which often hold half-done work
	// First looks from the oldest on, and so finds the first bad one even if it was good again
	// later. Without it each run halves the open range.
	First bool
	IO    inspect.IO
	Tell  func(string) // prints a line before each run; nil: nobody reads it
}

// Verdict is the result of looking at one checkpoint.
type Verdict string

// The verdicts.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip"
)

// Tried is one look at a checkpoint.
type Tried struct {
	ID      name.ID `json:"id"`
	Label   string  `json:"label"`
	Verdict Verdict `json:"verdict"`
	Code    int     `json:"code"` // exit code of the command; 0 for an expression
}

// Answer is the result of a bisect.
type Answer struct {
	Session  name.Session          `json:"session"`
	Broke    *Culprit              `json:"broke"`    // null if skipped checkpoints hide it
	Suspects []checkpoint.Labelled `json:"suspects"` // only if skipped checkpoints hide it: one of these broke it
	// The newest good one before; null if there is none.
	Good  *checkpoint.Labelled `json:"good"`
	Runs  []Tried              `json:"runs"`
	Steps int                  `json:"steps"` // number of checkpoints in the range
	Diff  string               `json:"diff"`  // a command that shows what changed; empty if no good one is known
	See   string               `json:"-"`     // the same with the names that people type
}

// Culprit is the step that broke it.
type Culprit struct {
	ID      name.ID `json:"id"`
	Label   string  `json:"label"`
	Step    int     `json:"step"`
	Message string  `json:"message"` // for a step of a coding agent the prompt

	Mention checkpoint.Mention `json:"-"`
}

// search is a bisect in progress.
type search struct {
	s     *checkpoint.Sessions
	req   Request
	found *checkpoint.Found // the bad end, with its session
	steps []*journal.Entry  // oldest first
	// known maps an index in steps to its verdict.
	known  map[int]Verdict
	answer *Answer
	// try looks at one checkpoint and returns the verdict and an exit code.
	try func(context.Context, *journal.Entry) (Verdict, int, error)
}

// Do finds the first bad checkpoint.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	b := &search{s: s.Sessions, req: req, known: map[int]Verdict{}, answer: &Answer{Runs: []Tried{}, Suspects: []checkpoint.Labelled{}}}
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
	scratch, err := newScratch(ctx, s, b.found.State, b.steps[0])
	if err != nil {
		return nil, err
	}
	b.try = func(ctx context.Context, e *journal.Entry) (Verdict, int, error) { return scratch.test(ctx, e, req) }
	err = b.run(ctx)
	// The scratch worktree is removed even if the search failed or was interrupted.
	if closed := scratch.close(context.WithoutCancel(ctx)); err == nil {
		err = closed
	}
	return b.answer, err
}

// gather lists the checkpoints from good to bad, along the previous checkpoints of the bad
// end.
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
			return checkpoint.Usage("", "%s and %s belong to different sessions", checkpoint.Said(ctx, b.s.Store, good.State, good.Entry), checkpoint.Said(ctx, b.s.Store, b.found.State, b.found.Entry))
		}
	}
	reached := good == nil
	for e := range b.found.State.LineTo(b.found.Entry) {
		isGood := good != nil && e.Checkpoint == good.Entry.Checkpoint
		// The ends count even if they are not milestones, or were made by a rollback, because the
		// user named them.
		isEnd := isGood || b.req.Bad != "" && e == b.found.Entry
		if !e.Dead && (isEnd || !e.Safety && (e.Milestone || b.req.All)) {
			b.steps = append(b.steps, e)
		}
		if isGood {
			reached = true
			break
		}
	}
	slices.Reverse(b.steps)
	if !reached {
		return checkpoint.Usage("--good must come before --bad; `git checkpoint list` shows the order", "%s does not come before %s", checkpoint.Said(ctx, b.s.Store, good.State, good.Entry), checkpoint.Said(ctx, b.s.Store, b.found.State, b.found.Entry))
	}
	if len(b.steps) < 2 {
		return checkpoint.Failure(checkpoint.KindNothing, "--all also tests checkpoints that are not milestones", "there is only one checkpoint to test")
	}
	// By naming the ends, the user gave verdicts on them.
	if good != nil {
		b.known[0] = Good
	}
	if b.req.Bad != "" {
		b.known[len(b.steps)-1] = Bad
	}
	return nil
}

// run searches until the first bad checkpoint is known.
func (b *search) run(ctx context.Context) error {
	search := b.narrow
	if b.req.First {
		search = b.walk
	}
	low, high, err := search(ctx)
	if err != nil {
		return err
	}
	return b.broken(ctx, low, high)
}

// walk looks at each checkpoint, from the oldest on, up to the first bad one.
func (b *search) walk(ctx context.Context) (last, bad int, err error) {
	last = -1
	for i := range b.steps {
		verdict, err := b.verdictOn(ctx, i)
		if err != nil {
			return 0, 0, err
		}
		switch verdict {
		case Good:
			last = i
		case Bad:
			return last, i, nil
		case Skip: // it stays among the suspects
		}
	}
	return 0, 0, nothingBroke(b.found.Session)
}

func nothingBroke(session name.Session) error {
	return checkpoint.Failure(checkpoint.KindNotFound, "--bad names one", "no bad checkpoint in session %q", session)
}

// narrow looks at the newest checkpoint, unless the user said that it is bad, and then at
// the middle of the open range: ceil(log2 n) + 1 runs. In place of a skipped one, its
// nearest neighbour is tried. low is the last good one or -1, high the first bad one.
func (b *search) narrow(ctx context.Context) (low, high int, err error) {
	low, high = -1, len(b.steps)-1
	if b.known[0] == Good {
		low = 0
	}
	// Halving relies on a bad end, so make sure of it first.
	verdict, err := b.verdictOn(ctx, high)
	if err != nil {
		return 0, 0, err
	}
	if verdict != Bad {
		return 0, 0, nothingBroke(b.found.Session)
	}
	for high-low > 1 {
		at := b.middle(low, high)
		if at < 0 {
			break // all in between are skipped
		}
		if verdict, err = b.verdictOn(ctx, at); err != nil {
			return 0, 0, err
		}
		switch verdict {
		case Good:
			low = at
		case Bad:
			high = at
		case Skip: // it stays among the suspects
		}
	}
	return low, high, nil
}

// middle returns the index nearest to the middle without a verdict, or -1.
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

// verdictOn returns the verdict on a checkpoint, and looks only if it is not known.
func (b *search) verdictOn(ctx context.Context, i int) (Verdict, error) {
	if v := b.known[i]; v != "" {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	e := b.steps[i]
	verdict, code, err := b.try(ctx, e)
	if err != nil {
		return "", err
	}
	b.known[i] = verdict
	b.answer.Runs = append(b.answer.Runs, Tried{ID: e.Checkpoint, Label: e.Label, Verdict: verdict, Code: code})
	if b.req.Tell != nil {
		b.req.Tell(b.told(i, verdict))
	}
	return verdict, nil
}

// told says what was found out about a checkpoint, and about how many may be tested after it.
func (b *search) told(i int, verdict Verdict) string {
	text := checkpoint.Said(context.Background(), b.s.Store, b.found.State, b.steps[i]) + " is " + cmp.Or(map[Verdict]string{Skip: "skipped"}[verdict], string(verdict))
	if b.req.First {
		return text
	}
	low, high := -1, len(b.steps)
	for at, v := range b.known {
		switch v {
		case Good:
			low = max(low, at)
		case Bad:
			high = min(high, at)
		}
	}
	if left := bits.Len(uint(max(high-low-1, 0))); left > 0 {
		return fmt.Sprintf("%s, about %d left", text, left)
	}
	return text
}

// broken completes the answer. high is the first bad checkpoint, and low the last good one
// or -1.
func (b *search) broken(ctx context.Context, low, high int) error {
	label := func(i int) checkpoint.Labelled {
		return checkpoint.LabelledOf(ctx, b.s.Store, b.found.State, b.steps[i])
	}
	if low >= 0 {
		b.answer.Good = new(label(low))
		b.answer.Diff = fmt.Sprintf("git checkpoint diff %s %s --patch", b.steps[low].Checkpoint, b.steps[high].Checkpoint)
		b.answer.See = fmt.Sprintf("git checkpoint diff %s %s --patch", b.typed(low), b.typed(high))
	}
	if high-low > 1 { // skipped ones are in between
		for i := low + 1; i <= high; i++ {
			b.answer.Suspects = append(b.answer.Suspects, label(i))
		}
		return nil
	}
	e := b.steps[high]
	rec, err := checkpoint.ReadRecord(ctx, b.s.Store, e)
	if err != nil {
		return checkpoint.DamagedError(e, err)
	}
	b.answer.Broke = &Culprit{ID: e.Checkpoint, Label: e.Label, Step: e.Step, Message: rec.Message, Mention: label(high).Mention}
	return nil
}

// typed returns what a person types for a checkpoint. Where they named another session it says which.
func (b *search) typed(i int) string {
	ref := checkpoint.NameTo(b.found.State, b.steps[i])
	if b.req.Session != "" || strings.Contains(b.req.Bad, ":") {
		return string(b.found.Session) + ":" + ref
	}
	return ref
}

// evaluate returns a try that evaluates an expression on the record.
func (b *search) evaluate(fits *workflow.Condition) func(context.Context, *journal.Entry) (Verdict, int, error) {
	return func(ctx context.Context, e *journal.Entry) (Verdict, int, error) {
		got, err := checkpoint.ReadStored(ctx, b.s.Store, e)
		if err != nil {
			return "", 0, checkpoint.DamagedError(e, err)
		}
		holds, err := fits.Holds(got.Raw, inspect.Marks(b.found.State, e, got.Record))
		switch {
		case err != nil:
			return "", 0, checkpoint.Usage("", "--where: %v", err)
		case holds:
			return Good, 0, nil
		}
		return Bad, 0, nil
	}
}
