package rollback_test

import (
	"context"
	"fmt"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/rollback"
)

// The plan that two trees make: what a rollback to the first checkpoint does, whose file "file" has
// "one", from a worktree with other files.
func TestPlanOfTwoTrees(t *testing.T) {
	for name, k := range map[string]struct {
		now  func(w *world) // after the checkpoint
		req  rollback.Request
		want string // written, deleted, mode, unsaved, discarded, nothing to do
	}{
		"the same":            {func(*world) {}, rollback.Request{}, "[] [] [] [] [] true"},
		"edited":              {func(w *world) { w.Write("file", "two") }, rollback.Request{}, "[file] [] [] [file] [] false"},
		"edited and saved":    {func(w *world) { w.Write("file", "two"); w.create() }, rollback.Request{}, "[file] [] [] [] [cp-02] false"},
		"new":                 {func(w *world) { w.Write("new", "x") }, rollback.Request{}, "[] [new] [] [new] [] false"},
		"removed":             {func(w *world) { w.Git("rm", "-q", "file") }, rollback.Request{}, "[file] [] [] [] [] false"},
		"executable":          {func(w *world) { w.Git("update-index", "--chmod=+x", "file"); w.Git("checkout", "file") }, rollback.Request{}, "[] [] [file] [] [] false"},
		"a file was a folder": {func(w *world) { w.Git("rm", "-q", "file"); w.Write("file/a", "x") }, rollback.Request{}, "[file] [file/a] [] [file/a] [] false"},
		"some paths":          {func(w *world) { w.Write("file", "two"); w.Write("new", "x") }, rollback.Request{Paths: []string{"file"}}, "[file] [] [] [file] [] false"},
		"the state alone":     {func(w *world) { w.Write("file", "two"); w.create() }, rollback.Request{Mode: rollback.ModeState}, "[] [] [] [] [cp-02] false"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			k.now(w)
			k.req.Ref, k.req.DryRun = "1", true
			err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
				plan, err := rollback.Prepare(ctx, s, k.req)
				if err != nil {
					return err
				}
				a := plan.Answer()
				if got := fmt.Sprint(a.Plan.Write, a.Plan.Delete, a.Plan.Mode, a.Plan.Unsaved, a.Plan.Discard, a.Empty); got != k.want {
					t.Errorf("got %s, want %s", got, k.want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
