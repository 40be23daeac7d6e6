package retain

// An undo restores files from the safety checkpoint of a level. This file finds these checkpoints
// for all worktrees of the repository, so that no retention rule removes them.

import (
	"context"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

const (
	keyUndoLevels     = "checkpoint.undoLevels"
	defaultUndoLevels = 10
	// levelsExpire is how long the undo and redo lists of a worktree are protected after its last
	// event. After that the worktree was most likely removed.
	levelsExpire = 30 * 24 * time.Hour
)

// LostLevel is a rollback that cannot be undone or redone after a prune, because its safety
// checkpoint is pruned.
type LostLevel struct {
	List string          `json:"list"` // undo or redo
	Time checkpoint.Time `json:"time"`
	What string          `json:"what"` // the rollback, as one sentence
}

// neededByUndo returns the safety checkpoints that the next undos and redos of all worktrees
// restore files from.
func neededByUndo(ctx context.Context, s *checkpoint.Rules) (map[name.ID]bool, error) {
	most, err := undoLevels(s.Settings)
	if err != nil {
		return nil, err
	}
	needed := map[name.ID]bool{}
	err = eachWalk(ctx, s.Store, func(walk *journal.Walk, lastSeen time.Time) {
		if s.Store.Now().Sub(lastSeen) > levelsExpire {
			return
		}
		for _, list := range [][]journal.Level{walk.Undo, walk.Redo} {
			// The end of a list is what is undone next.
			for _, l := range list[max(0, len(list)-most):] {
				needed[l.State.StandIn(l.Head.Safety)] = true
			}
		}
	})
	return needed, err
}

// loses adds to the plan which rollbacks can no longer be undone or redone.
func (p *PrunePlan) loses(ctx context.Context) error {
	going := gather.Set(p.answer.Pruned, func(j Judged) name.ID { return j.ID })
	return eachWalk(ctx, p.s.Store, func(walk *journal.Walk, _ time.Time) {
		for list, levels := range map[string][]journal.Level{"undo": walk.Undo, "redo": walk.Redo} {
			for _, l := range levels {
				if going[l.State.StandIn(l.Head.Safety)] {
					p.answer.Levels = append(p.answer.Levels, LostLevel{list, checkpoint.Time{Time: l.Head.Time}, l.Rollback.Subject()})
				}
			}
		}
		slices.SortStableFunc(p.answer.Levels, func(a, b LostLevel) int { return a.Time.Compare(b.Time.Time) })
	})
}

// eachWalk calls do with the undo and redo lists of each worktree, and when that worktree was last
// seen. Worktrees are known by the ids in rollback events.
func eachWalk(ctx context.Context, s *store.Store, do func(*journal.Walk, time.Time)) error {
	states, err := checkpoint.States(ctx, s, "session %q cannot be read, so its undo levels are unknown: %v")
	if err != nil {
		return err
	}
	moved := map[string]bool{}
	for _, st := range states {
		for _, e := range st.Rollbacks {
			moved[e.WorktreeID] = true
		}
	}
	for id := range moved {
		do(journal.NewWalk(id, states...), lastSeen(id, states))
	}
	return nil
}

// lastSeen returns the time of a worktree's last event in any session.
func lastSeen(worktreeID string, states []*journal.State) (newest time.Time) {
	for _, st := range states {
		if t := st.LastBy(worktreeID); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// undoLevels returns how many levels of each list are protected: checkpoint.undoLevels, or the
// default.
func undoLevels(settings *checkpoint.Settings) (int, error) {
	text, set := settings.Get(keyUndoLevels)
	if !set {
		return defaultUndoLevels, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, checkpoint.Usage("it must be a number of 0 or more", "%s is %q", keyUndoLevels, text)
	}
	return n, nil
}
