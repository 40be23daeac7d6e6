package attempt

import (
	"context"
	"errors"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/linked"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// Removal is what `fork --remove` does, planned or done.
type Removal struct {
	Attempt Attempt           `json:"attempt"`
	Changed int               `json:"changed"` // files that its newest checkpoint has not
	Ignored []checkpoint.Path `json:"ignored"` // what goes for good; a directory ends in "/"
	Kept    name.ID           `json:"kept"`    // the checkpoint that was made of it first; empty: none was needed
	DryRun  bool              `json:"dry_run"`

	s    *checkpoint.Service
	note *linked.Note
}

// PrepareRemoval looks at the worktree of an attempt. Nothing is changed.
func PrepareRemoval(ctx context.Context, s *checkpoint.Service, typed string) (*Removal, error) {
	a, err := Find(ctx, s, typed)
	if err != nil {
		return nil, err
	}
	r := &Removal{Attempt: *a, DryRun: true, s: s}
	if a.Worktree == "" {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: "the worktree of " + a.Name + " is gone already",
			Hints: []string{"`git checkpoint prune --session " + string(a.Session) + " --all` drops its checkpoints too"},
		}
	}
	if a.Worktree == s.Repo.WorkTree {
		return nil, &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "this is the worktree of " + a.Name, Hints: []string{"run it from another worktree"}}
	}
	if a.Unfinished {
		left, err := linked.Left(s)
		for i := range left {
			if left[i].Session == a.Session {
				r.note = &left[i]
			}
		}
		return r, err
	}
	return r, r.look(ctx)
}

// look finds what would be lost, and what is captured first.
func (r *Removal) look(ctx context.Context) error {
	in, err := checkpoint.OpenAt(ctx, r.s, r.Attempt.Worktree)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	status, err := in.Repo.Run(ctx, git.Cmd{Args: []string{"status", "--porcelain=v1", "-z", "--ignored=traditional", "--untracked-files=all", "--no-renames"}})
	if err != nil {
		return checkpoint.Classify(err)
	}
	for entry := range strings.SplitSeq(string(status.Stdout), "\x00") {
		if p, ignored := strings.CutPrefix(entry, "!! "); ignored {
			r.Ignored = append(r.Ignored, checkpoint.Path(p))
		}
	}
	detail, err := create.Checkpoint(ctx, in, r.keep(true))
	switch {
	case checkpoint.KindOf(err) == checkpoint.KindNothing:
		return nil
	case err != nil:
		return err
	}
	r.Changed = detail.Record.Files.Total()
	return nil
}

func (r *Removal) keep(dry bool) create.Request {
	return create.Request{
		Session: string(r.Attempt.Session), Trigger: workflow.TriggerRun, Tag: create.TagNever, Unchanged: create.UnchangedSkip,
		Message: "before its worktree was removed", Size: create.SizeLarge, DryRun: dry,
	}
}

// Apply captures what is there, then removes the worktree. The session stays.
func (r *Removal) Apply(ctx context.Context) error {
	r.DryRun = false
	if !r.Attempt.Unfinished {
		in, err := checkpoint.OpenAt(ctx, r.s, r.Attempt.Worktree)
		if err != nil {
			return err
		}
		made, err := create.Checkpoint(ctx, in, r.keep(false))
		err = errors.Join(err, in.Close())
		switch {
		case checkpoint.KindOf(err) == checkpoint.KindNothing:
		case err != nil:
			return err
		default:
			r.Kept = made.Record.ID
		}
	}
	if r.note == nil {
		return linked.Remove(ctx, r.s, r.Attempt.Worktree)
	}
	return r.note.Clear(ctx, r.s)
}
