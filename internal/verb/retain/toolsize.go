package retain

// What an agent's tools change is captured between the steps. Where a large file is written again
// and again that adds up, and numbers alone do not bound it.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// toolSizeKey is how much the checkpoints between the steps of a session may keep that nothing else
// keeps; defaultToolSize if it is not set, and 0 for no bound.
const (
	toolSizeKey     = "checkpoint.maxToolSize"
	defaultToolSize = 1 << 30
)

// isBetween reports whether a checkpoint was made between steps, by no person.
func isBetween(e *journal.Entry) bool {
	return e != nil && !e.Milestone && !e.Safety && e.Event().Trigger != workflow.TriggerManual
}

// Thin removes the oldest checkpoints between the steps of a session if they keep too much. wrote
// is how many bytes the newest one captured. Measuring has to walk the objects of all of them, so
// it is done only after another sixteenth of the bound was captured.
func Thin(ctx context.Context, s *checkpoint.Service, session name.Session, wrote int64) ([]Judged, error) {
	bound, err := s.Settings.Size(toolSizeKey, defaultToolSize)
	if err != nil || bound <= 0 {
		return nil, err
	}
	file := filepath.Join(s.Repo.CommonDir, "checkpoint", "captured-"+string(session))
	var since int64
	if data, err := os.ReadFile(file); err == nil {
		fmt.Sscan(string(data), &since) //nolint:errcheck // zero where nothing was counted
	}
	due := since+wrote >= bound/16
	if since += wrote; due {
		since = 0
	}
	if err := os.WriteFile(file, fmt.Appendln(nil, since), s.Repo.Settings.PrivateMode()); err != nil || !due {
		return nil, err
	}
	plan, err := PlanPrune(ctx, s, PruneRequest{Session: string(session), Automatic: true, Between: bound})
	if err != nil || len(plan.Answer().Pruned) == 0 {
		return nil, err
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	return done.Pruned, nil
}
