package checkpoint

import (
	"context"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// After a power loss, the ref of the branch may hold no id, or name a commit that is not there.

const damagedHint = "`git checkpoint doctor` says how to put it back"

// RefuseDamagedHead returns an error if the ref of HEAD's branch is damaged. A checkpoint made now
// would say that there was no commit yet.
func RefuseDamagedHead(repo *git.Repo) error {
	if !repo.Head.Damaged {
		return nil
	}
	return Failure(KindInvalid, damagedHint, "%s is damaged: it holds no commit id", repo.Head.Branch)
}

// LastCommit returns the newest commit that a checkpoint was made at and that git can read, and the
// label of that checkpoint. A commit of HEAD's branch is preferred. The id is empty if there is none.
func LastCommit(ctx context.Context, s *store.Store) (commit name.OID, label string, err error) {
	states, err := States(ctx, s, "")
	if err != nil {
		return "", "", err
	}
	same := false // commit is of HEAD's branch
	var at Time
	for _, st := range states {
		for i, standing := range st.Backward() {
			if standing.Dead {
				continue
			}
			rec, err := ReadRecord(ctx, s, st.Read(i))
			if err != nil || rec.Git.Head == "" {
				continue
			}
			ours := name.Ref(rec.Git.Branch) == s.Repo.Head.Branch
			if same && !ours || same == ours && !rec.CreatedAt.After(at.Time) {
				continue
			}
			if _, err := s.Repo.Commits.TreeOf(ctx, rec.Git.Head); err != nil {
				continue
			}
			commit, label, same, at = rec.Git.Head, string(st.Session)+":"+CalledOf(rec), ours, Time{Time: rec.CreatedAt}
		}
	}
	return commit, label, ctx.Err()
}
