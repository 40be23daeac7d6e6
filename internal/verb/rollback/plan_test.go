package rollback_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// What a rollback does to HEAD and its branch. The checkpoint was made on main; a commit that only the
// branch holds that moves is never taken off it.
func TestPlanOfBranch(t *testing.T) {
	move := rollback.Request{Branch: rollback.BranchMove}
	for name, k := range map[string]struct {
		now  func(w *world) // after the checkpoint
		req  rollback.Request
		want string // moves, HEAD's branch afterwards, commits in between; or the start of an error
	}{
		"nothing new":                  {func(*world) {}, move, "false  0"},
		"a commit":                     {func(w *world) { w.commit("two") }, rollback.Request{}, "false  1"},
		"a commit, to move":            {func(w *world) { w.commit("two"); w.commit("three") }, move, "true refs/heads/main 2"},
		"a commit, the state alone":    {func(w *world) { w.commit("two") }, rollback.Request{Branch: rollback.BranchMove, Mode: rollback.ModeState}, "false  1"},
		"another branch":               {func(w *world) { w.Git("checkout", "-qb", "other") }, rollback.Request{}, "false  0"},
		"another branch, to move":      {func(w *world) { w.Git("checkout", "-qb", "other"); w.commit("two") }, move, "true refs/heads/main 0"},
		"detached, to move":            {func(w *world) { w.Git("checkout", "-q", "--detach"); w.commit("two") }, move, "true refs/heads/main 1"},
		"main went on, HEAD is off":    {func(w *world) { w.commit("two"); w.Git("checkout", "-qb", "other", "HEAD^") }, move, "branch main is at "},
		"main went on, another has it": {func(w *world) { w.commit("two"); w.Git("checkout", "-qb", "other") }, move, "true refs/heads/main 0"},
		"main is elsewhere":            {func(w *world) { w.Git("checkout", "-qb", "other"); w.Git("worktree", "add", "-q", "../linked", "main") }, move, "branch refs/heads/main is checked out in worktree linked"},
		"main is gone":                 {func(w *world) { w.Git("checkout", "-qb", "other"); w.Git("branch", "-D", "main") }, move, "true refs/heads/main 0"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			k.now(w)
			k.req.Ref, k.req.DryRun, k.req.Session = "1", true, "main"
			got := ""
			err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
				plan, err := rollback.Prepare(ctx, s, k.req)
				if err == nil {
					b := plan.Answer().Branch
					got = fmt.Sprint(b.Moved, " ", b.Target, " ", b.CommitsLeft)
				}
				return err
			})
			if err != nil {
				got = err.Error()
				if strings.HasPrefix(got, k.want) && checkpoint.KindOf(err) == checkpoint.KindRefused {
					return
				}
			}
			if got != k.want {
				t.Errorf("got %s, want %s", got, k.want)
			}
		})
	}
}

// What a plan names as a risk, for files that are new since the checkpoint or edited.
func TestRisksOfPlan(t *testing.T) {
	for name, k := range map[string]struct {
		now  func(w *world) // after the checkpoint
		want string         // path and reason of each
	}{
		"a file":                  {func(w *world) { w.Write("file", "two") }, "[]"},
		"a hard link":             {func(w *world) { w.link("file", "same"); w.Write("file", "two") }, "[{file hard link: it will become a separate file} {same hard link: it will become a separate file}]"},
		"a hard link that stays":  {func(w *world) { w.link("file", "../same"); w.Write("new", "x") }, "[]"},
		"the settings of a shell": {func(w *world) { w.Write("sub/.envrc", "x") }, "[{sub/.envrc agents and editors run commands from this file}]"},
		"hooks of an agent":       {func(w *world) { w.Write(".claude/settings.json", "{}") }, "[{.claude/settings.json agents and editors run commands from this file}]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			k.now(w)
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				plan, err := rollback.Prepare(ctx, s, rollback.Request{Ref: "1", DryRun: true})
				if err != nil {
					return err
				}
				if got := fmt.Sprint(plan.Answer().Plan.Risk); got != k.want {
					t.Errorf("got %s, want %s", got, k.want)
				}
				return nil
			})
		})
	}
}

// link makes a hard link. Both paths are relative to the worktree.
func (w *world) link(from, to string) {
	w.Helper()
	if err := os.Link(filepath.Join(w.Dir, from), filepath.Join(w.Dir, to)); err != nil {
		w.Fatal(err)
	}
}
