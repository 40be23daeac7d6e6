package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/connect"
)

// Worktree makes the worktree that an agent wants, from a checkpoint of what is here, and returns its path; or it
// removes one, whose files it captures first, and returns "". Where no checkpoint can be made, the worktree begins at
// HEAD: the agent has no other way to get one.
func Worktree(ctx context.Context, s *checkpoint.Service, def *agent.Definition, event string, happened agent.Event) (dir string, err error) {
	if !connect.Consented(s.Settings, def.Name) {
		err = checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint agent add "+def.Name+" --worktrees` does", "nobody agreed to the hooks of %s here", def.Title)
	}
	called := component(happened.Worktree)
	switch {
	case happened.Kind == agent.KindWorktreeRemove && err == nil:
		return "", removeWorktree(ctx, s, filepath.Clean(happened.Worktree))
	case happened.Kind == agent.KindWorktreeRemove:
		return "", err
	case err == nil:
		bounded, cancel := context.WithTimeout(ctx, handlerOf(s, def, event, happened).limit)
		defer cancel()
		for range 3 { // git fails now and then where others make worktrees at the same moment
			if dir, err = handlerOf(s, def, event, happened).fork(bounded, called); err == nil || bounded.Err() != nil {
				break
			}
		}
	}
	if err == nil || ctx.Err() != nil {
		return dir, cmp.Or(ctx.Err(), err)
	}
	return atHead(ctx, s.Store, called, err)
}

// component returns the name of a worktree, which a model chose, as one that a session may have too.
func component(typed string) string {
	const longest = 40
	return string(name.SessionFromBranch(cmp.Or(strings.Trim(name.Clip(typed, longest), "-./ …"), "agent")))
}

// fork makes a checkpoint and a fork of it, in whose session the agent works on.
func (h *handler) fork(ctx context.Context, called string) (string, error) {
	if _, err := h.remembering(ctx); err != nil {
		return "", err
	}
	made, err := attempt.Fork(ctx, h.s, attempt.ForkRequest{Session: string(h.c.Session), Name: called, Next: true, Count: 1, Jobs: 1})
	if err != nil {
		return "", err
	}
	in, err := checkpoint.OpenAt(ctx, h.s, made[0].Worktree)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return made[0].Worktree, checkpoint.Choose(in, made[0].Session)
}

// longestWorktree is how long a fork for an agent may take.
const longestWorktree = time.Minute

// atHead makes a worktree as git does, because of a problem, and says what it lacks.
func atHead(ctx context.Context, s *store.Store, called string, problem error) (dir string, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestWorktree)
	defer cancel()
	for n := 0; ; n++ {
		dir = attempt.DefaultDirectory(s.Repo, attempt.Numbered(called, n))
		if _, err = os.Lstat(dir); err == nil {
			continue
		}
		_, err = s.Repo.Output(ctx, "worktree", "add", "--quiet", "--detach", "--", dir, "HEAD")
		if _, there := os.Lstat(filepath.Join(dir, ".git")); err == nil || there != nil {
			break
		}
	}
	if err != nil {
		return "", errors.Join(problem, err)
	}
	lacks := ""
	if status, err := s.Repo.Output(ctx, "status", "--porcelain"); err == nil && status != "" {
		lacks = ", without your " + render.Count(strings.Count(status, "\n")+1, "change", "changes")
	}
	s.Warn(fmt.Sprintf("%s begins at HEAD%s, because %s", dir, lacks, strings.Join(checkpoint.Lines(problem), "; ")))
	return dir, nil
}

// removeWorktree removes a linked worktree of this repository. One that has what no checkpoint holds stays.
func removeWorktree(ctx context.Context, s *checkpoint.Service, dir string) error {
	if !slices.ContainsFunc(s.Repo.Linked(), func(w git.Linked) bool { return w.Dir == dir }) {
		return checkpoint.Failure(checkpoint.KindRefused, "`git worktree list` shows them", "%q is no linked worktree of this repository, so nothing was removed", name.Clip(dir, name.Said))
	}
	plan, err := attempt.PrepareRemoval(ctx, s, dir)
	switch {
	case err != nil:
		return err
	case len(plan.Lost) > 0:
		return plan.Refusal()
	}
	return plan.Apply(ctx)
}
