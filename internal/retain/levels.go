package retain

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

const (
	keyUndoLevels     = "checkpoint.undoLevels"
	defaultUndoLevels = 10
	// levelsExpire is how long the levels of a worktree are kept after its last event: it
	// was removed, most likely.
	levelsExpire = 30 * 24 * time.Hour
)

// neededByUndo gives the safety checkpoints that the undo and redo lists of all worktrees
// take their files from, of each list the levels that come next.
func neededByUndo(ctx context.Context, s *checkpoint.Service) (map[name.ID]bool, error) {
	most, err := undoLevels(s)
	if err != nil {
		return nil, err
	}
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	var states []*journal.State
	moved := map[string]bool{}
	for _, info := range sessions {
		st, err := s.Store.State(ctx, info.Session)
		if err != nil {
			s.Warn(fmt.Sprintf("session %q cannot be read, so its undo levels are not known: %v", info.Session, err))
			continue
		}
		states = append(states, st)
		for _, e := range st.Rollbacks {
			moved[e.WorktreeID] = true
		}
	}
	needed := map[name.ID]bool{}
	for id := range moved {
		if s.Now().Sub(lastSeen(id, states)) > levelsExpire {
			continue
		}
		walk := journal.NewWalk(id, states...)
		for _, list := range [][]journal.Level{walk.Undo, walk.Redo} {
			for _, l := range list[max(0, len(list)-most):] {
				needed[l.Head.Safety] = true
			}
		}
	}
	return needed, nil
}

func lastSeen(worktreeID string, states []*journal.State) (newest time.Time) {
	for _, st := range states {
		if t := st.LastSeen(worktreeID); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// undoLevels is how many levels of each list stay.
func undoLevels(s *checkpoint.Service) (int, error) {
	text, set := s.Settings.Get(keyUndoLevels)
	if !set {
		return defaultUndoLevels, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, checkpoint.Usage("it takes a number from 0", "%s is %q", keyUndoLevels, text)
	}
	return n, nil
}
