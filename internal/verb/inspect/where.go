package inspect

// This file selects checkpoints: the request of `list`, and expressions over records, for `list
// --where` and `rollback --where`.

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
)

// Hidden says what to do with safety and discarded checkpoints. An expression or a trigger that
// asks for them explicitly always gets them.
type Hidden int

// HiddenUnlessWhere lists them, but leaves them out if there is an expression. HiddenCounted only
// counts them. HiddenShown lists them.
const (
	HiddenUnlessWhere Hidden = iota
	HiddenCounted
	HiddenShown
)

// ListRequest is the input of List. Zero values mean: no filter.
type ListRequest struct {
	Session string
	All     bool   // list every session
	Type    string // prefix of the session's name or of its type of work
	Trigger string
	Status  string
	Step    *int
	Since   time.Time
	Where   string // a condition on the record and the line of the list
	Hidden  Hidden
	Grep    string // only those whose message or a changed path has this word, in any case
	Detail  Detail
	Limit   int  // at most this many of the newest; 0: all
	Usage   bool // say how many tokens turns of agents used, which reads their records
}

// Where compiles the expression of --where. It returns nil for "".
func Where(text string) (*workflow.Condition, error) {
	if text == "" {
		return nil, nil
	}
	condition, err := workflow.Where(text)
	if err != nil {
		return nil, checkpoint.Usage("write an expression over the record, such as state.metrics.build_pass", "--where: %v", err)
	}
	return condition, nil
}

// Newest returns the name of the newest live checkpoint for which an expression is true.
func Newest(ctx context.Context, s *checkpoint.Sessions, session, expression string) (string, error) {
	if expression == "" { // an unset variable in a script
		return "", checkpoint.Usage("write an expression over the record, such as state.metrics.build_pass", "--where is empty")
	}
	found, err := List(ctx, s, ListRequest{Session: session, Where: expression, Limit: 1})
	if err != nil {
		return "", err
	}
	for _, l := range found {
		for _, item := range l.Items {
			return string(l.Session) + ":" + string(item.ID), nil
		}
	}
	return "", checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint list --hidden --where` also looks at safety, discarded and invalid ones", "no live checkpoint matches: %s", name.Clip(expression, name.Said))
}

// dropsLater reports whether a filter needs more than the journal.
func (req ListRequest) dropsLater() bool {
	return req.Where != "" || !req.Since.IsZero() || req.Grep != ""
}

// mayShow applies those filters that the journal alone can answer to the checkpoint at a place.
func (req ListRequest) mayShow(st *journal.State, place int, c journal.Standing) bool {
	return (req.Step == nil || c.Step == *req.Step) && (req.Trigger == "" || st.At(place).Event().Trigger == req.Trigger) &&
		(req.Status == "" || st.At(place).Event().CheckpointStatus == req.Status)
}

// leavesOut reports whether a safety or discarded checkpoint is hidden. A search for the last good
// checkpoint must not end at one that a rollback discarded, unless the expression asks for such.
func (req ListRequest) leavesOut(c *workflow.Condition, e journal.Standing) bool {
	if !e.Safety && !e.Discarded || req.Hidden == HiddenShown || c == nil && req.Hidden == HiddenUnlessWhere {
		return false
	}
	// An expression asks for something if it mentions it: "safety", or the member "discarded".
	if e.Safety {
		return req.Trigger != journal.TriggerSafety && (c == nil || !c.Asks(journal.TriggerSafety))
	}
	return c == nil || !c.Asks("discarded")
}

// fitting returns the items for which the expression is true. An item that is not valid may have no
// record, so it can only fit if the expression or the request asks for invalid ones.
func fitting(ctx context.Context, s *store.Store, items []Item, byID map[name.ID]*store.Summary, req ListRequest, where *workflow.Condition) ([]Item, error) {
	if req.Hidden != HiddenShown && !where.Asks("valid") && !where.Asks("problem") {
		items = slices.DeleteFunc(items, func(i Item) bool { return !i.Valid })
	}
	fits := make(map[name.ID]bool, len(items))
	var whole []Item
	var of []*store.Summary
	for _, item := range items {
		if item.Valid {
			whole, of = append(whole, item), append(of, byID[item.ID])
			continue
		}
		holds, err := where.Holds(nil, lineOf(item))
		if err != nil {
			return nil, err
		}
		fits[item.ID] = holds
	}
	// One slot for each item, so that the goroutines need no lock.
	held := make([]bool, len(whole))
	var once sync.Once
	var first error // the first error: others have the same cause
	// Records are read and judged by several goroutines at once.
	err := s.EachRecord(ctx, of, func(i int, raw []byte, _ *record.Record) (err error) {
		if held[i], err = where.Holds(raw, lineOf(whole[i])); err != nil {
			once.Do(func() { first = err })
		}
		return err
	})
	if err = cmp.Or(first, err); err != nil {
		return nil, err
	}
	for i, item := range whole {
		fits[item.ID] = held[i]
	}
	return slices.DeleteFunc(items, func(i Item) bool { return !fits[i.ID] }), nil
}

// lineOf returns the members of an item's JSON line, for use in an expression.
func lineOf(i Item) map[string]any {
	return map[string]any{
		"id": string(i.ID), "label": i.Label, "session": string(i.Session), "step": i.Step, "step_name": i.StepName, "iteration": i.Iteration,
		"milestone": i.Milestone, "trigger": i.Trigger, "status": i.Status, "message": i.Message, "created_at": render.UTC(i.CreatedAt.Time),
		"commit": string(i.Commit), "files": i.Files, "current": i.Current, "discarded": i.Discarded, "pinned": i.Pinned, "valid": i.Valid, "problem": i.Problem, "incomplete": i.Incomplete,
	}
}

// Marks returns what an expression may refer to besides the record of a valid checkpoint, for a
// checkpoint that comes from no list.
func Marks(state *journal.State, e *journal.Entry, r *record.Record) map[string]any {
	return map[string]any{
		"commit": string(e.Event().Commit), "files": r.Files.Total(), "current": state.Current == e.Checkpoint,
		"discarded": e.Discarded, "pinned": e.Pinned, "valid": true, "problem": "", "incomplete": Incomplete(r.Snapshot.Skipped),
	}
}
