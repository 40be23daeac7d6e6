package retain

// A budget is how much a session may hold. It takes the oldest checkpoints, but never one that a
// rule keeps for ever.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/storage/store"
)

// OverBudget is a session that holds more than a budget even after the prune.
type OverBudget struct {
	Session name.Session `json:"session"`
	Setting string       `json:"setting"` // the budget: checkpoint.maxSize, checkpoint.maxSizeRecords or --max-size
	Budget  int64        `json:"budget"`
	Bytes   int64        `json:"bytes"` // what the session holds after the prune
	Stay    []Judged     `json:"stay"`  // the checkpoints that stay, and why
}

// budget is a limit for the size on disk of what only this session holds.
type budget struct {
	setting     string
	max         int64
	recordsOnly bool // only records and outputs count, not the files of the worktree
	betweenOnly bool // only checkpoints between steps count, and only they are removed
}

// readBudgets reads the budgets of the request and the configuration.
func (p *PrunePlan) readBudgets() error {
	if p.req.Automatic { // nobody sees the plan
		if p.req.Between > 0 {
			p.budgets = append(p.budgets, budget{setting: toolSizeKey, max: p.req.Between, betweenOnly: true})
		}
		return nil
	}
	for _, b := range []budget{{setting: "checkpoint.maxSize"}, {setting: "checkpoint.maxSizeRecords", recordsOnly: true}} {
		var err error
		if text := p.req.MaxSize; text != "" && !b.recordsOnly {
			b.setting = "--max-size"
			if b.max, err = gitconfig.ParseSize(text); err != nil || b.max <= 0 {
				return checkpoint.Usage("a size is a number, with k, m or g after it", "--max-size: %q is not a size", text)
			}
		} else if b.max, err = p.s.Settings.Size(b.setting, 0); err != nil {
			return err
		}
		if b.max > 0 {
			p.budgets = append(p.budgets, b)
		}
	}
	return nil
}

// fit drops the oldest checkpoints until the session holds no more than the budget. It uses a
// binary search for how many, because each measurement walks all objects of the session.
func (p *PrunePlan) fit(ctx context.Context, st *journal.State, verdicts []workflow.Verdict, b budget) error {
	may, err := p.expendable(ctx, st, verdicts)
	if err != nil {
		return err
	}
	parts := p.parts(ctx, st, verdicts, b)
	all := map[name.ID]bool{}
	for i, v := range verdicts {
		if b.betweenOnly && !isBetween(st.Entry(name.ID(v.ID))) {
			may = slices.DeleteFunc(may, func(at int) bool { return at == i })
			parts[i] = nil
			continue
		}
		all[name.ID(v.ID)] = true
	}
	var failed error
	// size measures what the session would hold without the oldest of those that may go. Objects
	// that others hold too do not count.
	size := func(drop int) int64 {
		var held []name.OID
		for i, v := range verdicts {
			if v.Keep && !slices.Contains(may[:drop], i) {
				held = append(held, parts[i]...)
			}
		}
		bytes, err := onlyHeldBy(ctx, p.s.Store, st.Session, all, held)
		failed = errors.Join(failed, err)
		return bytes
	}
	whole := size(0)
	if failed != nil || whole <= b.max {
		return failed
	}
	if p.req.Unasked {
		may = nil
	}
	drop := sort.Search(len(may), func(n int) bool { return size(n) <= b.max })
	left := size(drop)
	if failed != nil {
		return failed
	}
	for _, i := range may[:drop] {
		verdicts[i].Keep, verdicts[i].Reason = false, fmt.Sprintf("the session holds %d bytes, more than %d", whole, b.max)
		if b.betweenOnly {
			verdicts[i].Reason = fmt.Sprintf("the checkpoints between steps hold %s, more than %s", render.Size(whole), toolSizeKey)
		}
		p.Sized = true
	}
	if left <= b.max {
		return nil
	}
	over := OverBudget{Session: st.Session, Setting: b.setting, Budget: b.max, Bytes: left, Stay: []Judged{}}
	for _, v := range verdicts {
		if v.Keep {
			over.Stay = append(over.Stay, judged(st, st.Entry(name.ID(v.ID)), v.Reason))
		}
	}
	p.answer.Over = append(p.answer.Over, over)
	return nil
}

// expendable returns the positions of the checkpoints that a budget may take, the oldest first. It
// leaves out the current one, those that an undo or redo needs, and those that a rule keeps for
// ever.
func (p *PrunePlan) expendable(ctx context.Context, st *journal.State, verdicts []workflow.Verdict) (may []int, err error) {
	needed, err := neededByUndo(ctx, p.s.Rules)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		switch id := name.ID(v.ID); {
		case !v.Keep || v.Forever || id == st.Newest || id == st.Place:
		case needed[id]:
			verdicts[i].Reason = "an undo or a redo needs it"
		default:
			may = append(may, i)
		}
	}
	return may, nil
}

// parts returns for each checkpoint the objects that count for a budget. They are nil for one whose
// record cannot be read, because its size is not known.
func (p *PrunePlan) parts(ctx context.Context, st *journal.State, verdicts []workflow.Verdict, b budget) [][]name.OID {
	all := make([][]name.OID, len(verdicts))
	for i, v := range verdicts {
		commit := st.Entry(name.ID(v.ID)).Event().Commit
		if !b.recordsOnly {
			all[i] = []name.OID{commit}
		} else if m, err := p.s.Store.RecordCommit(ctx, commit); err == nil {
			// git ignores the second if there are no outputs.
			all[i] = []name.OID{m + ":" + store.RecordPath, m + ":" + store.OutputsPath}
		}
	}
	return all
}
