package repair

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/inspect"
)

// lookAtFiles reports what is damaged so that no checkpoint can be made of the files and the index.
func lookAtFiles(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	if _, err := inspect.Capture(ctx, s, nil); checkpoint.KindOf(err) == checkpoint.KindInvalid {
		return nil, err
	}
	return nil, nil
}

// lookAtHead reports a commit of HEAD that cannot be read, and a ref of its branch that holds no id,
// with the last good commit that a checkpoint knows. Only the user can decide to go back to that.
func lookAtHead(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	head := s.Repo.Head
	a := Problem{Level: LevelProblem}
	first := ""
	switch {
	case head.Damaged:
		a.Kind, a.Object, a.Message = "branch_damaged", string(head.Branch), "the branch that HEAD is on holds no commit id"
		first = fmt.Sprintf("`rm '%s'`, then ", filepath.Join(s.Repo.CommonDir, filepath.FromSlash(string(head.Branch))))
	case head.OID == "":
		return nil, nil
	default:
		_, err := s.Repo.Commits.TreeOf(ctx, head.OID)
		if err == nil || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.Kind, a.Object, a.Message = "head_missing", string(head.OID), "the commit that HEAD is at is missing or damaged"
	}
	commit, label, err := checkpoint.LastCommit(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	if commit == "" {
		a.Hint = "no checkpoint knows an older commit; `git reflog` and `git fsck --lost-found` may name one, and a clone or a remote may have this one"
		return []Problem{a}, nil
	}
	target := cmp.Or(string(head.Branch), "--no-deref HEAD")
	a.Hint = fmt.Sprintf("a clone or a remote may have it. The last good commit that a checkpoint knows is %s (%s): %s`git update-ref %s %s` goes back to it; files and index stay as they are", commit.Short(), label, first, target, commit)
	return []Problem{a}, nil
}
