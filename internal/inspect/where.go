package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// Where compiles what --where was given; nil without anything.
func Where(text string) (*workflow.Condition, error) {
	if text == "" {
		return nil, nil
	}
	condition, err := workflow.Where(text)
	if err != nil {
		return nil, checkpoint.Usage("an expression over the record, such as state.metrics.build_pass", "--where: %v", err)
	}
	return condition, nil
}

// Newest gives the name of the newest live checkpoint that makes an expression true.
func Newest(ctx context.Context, s *checkpoint.Service, session, expression string) (string, error) {
	if expression == "" { // the variable of a script that was not set
		return "", checkpoint.Usage("an expression over the record, such as state.metrics.build_pass", "--where is empty")
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
	return "", &checkpoint.Error{
		Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no live checkpoint makes this true: %s", name.Clip(expression, name.Said)),
		Hints: []string{"`git checkpoint list --hidden --where` looks at safety, discarded and invalid ones too"},
	}
}

// leavesOut passes over what nobody asked for: a search for the last good checkpoint must not
// end at one that a rollback discarded.
func (req ListRequest) leavesOut(c *workflow.Condition, e *journal.Entry) bool {
	if !e.Safety && !e.Discarded || req.Hidden == HiddenShown || c == nil && req.Hidden == HiddenUnlessWhere {
		return false
	}
	if e.Safety {
		return req.Trigger != journal.TriggerSafety && (c == nil || !c.Asks(journal.TriggerSafety))
	}
	return c == nil || !c.Asks("discarded")
}

// fitting are the items that make an expression true. What is not valid may lack its
// record, and fits only where the expression or the request asks for such ones.
func fitting(ctx context.Context, s *checkpoint.Service, items []Item, byID map[name.ID]*store.Summary, req ListRequest, where *workflow.Condition) ([]Item, error) {
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
	held := make([]bool, len(whole))
	var once sync.Once
	var first error // what one record cannot answer others cannot either
	err := s.Store.EachRecord(ctx, of, func(i int, raw []byte) (err error) {
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

// lineOf has the members of the item's JSON line, as an expression sees them.
func lineOf(i Item) map[string]any {
	return map[string]any{
		"id": string(i.ID), "label": i.Label, "session": string(i.Session), "step": i.Step, "step_name": i.StepName, "iteration": i.Iteration,
		"milestone": i.Milestone, "trigger": i.Trigger, "status": i.Status, "message": i.Message, "created_at": render.UTC(i.CreatedAt.Time),
		"commit": string(i.Commit), "files": i.Files, "current": i.Current, "discarded": i.Discarded, "pinned": i.Pinned, "valid": i.Valid, "problem": i.Problem,
	}
}
