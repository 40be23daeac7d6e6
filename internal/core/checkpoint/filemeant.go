package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/internal/format/name"
)

// MeantFile adds a hint to the error for a name that no checkpoint has, if a file has it: the command
// that was meant, in which format gets the file, as typed, with quotes if a shell needs them.
func (s *Sessions) MeantFile(ctx context.Context, session, typed, format string, err error) error {
	if !s.IsFile(ctx, session, typed, err) {
		return err
	}
	hint := fmt.Sprintf("%q is a file: `git checkpoint "+format+"`", name.Clip(typed, name.Said), name.Quoted(typed))
	return WithHints(err, func(hints []string) []string { return append([]string{hint}, hints...) })
}

// IsFile reports whether err says that no checkpoint has a name, but the worktree or the current checkpoint has a
// file or directory that is called like this, and the session has a current checkpoint.
func (s *Sessions) IsFile(ctx context.Context, session, typed string, err error) bool {
	if KindOf(err) != KindNotFound {
		return false
	}
	at, err := s.Repo.RelativePath(typed)
	if err != nil || at == "." && typed != "." {
		return false
	}
	st, err := ChosenState(ctx, s, session)
	if err != nil || st.CurrentEntry() == nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(s.Repo.WorkTree, filepath.FromSlash(at))); err == nil {
		return true
	}
	commit, err := s.Repo.Commits.Read(ctx, string(st.CurrentEntry().Event().Commit))
	if err != nil {
		return false
	}
	_, has, err := s.Repo.Trees.Lookup(ctx, commit.Tree, at)
	return err == nil && has
}
