package threeway

import (
	"context"
	"os"
	"path/filepath"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// mostConflicts is the highest exit code of git merge-file that counts conflicts. A higher one is an
// error, such as for a file that is not text.
const mostConflicts = 127

// lines merges the lines of a file of ours with a change. The result has markers if it is not clean,
// and is empty if the files cannot be merged.
func (s *set) lines(ctx context.Context, c Change, ours Version) (oid name.OID, clean bool, err error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-") // mode 0700
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable
	args := []string{"merge-file", "-p", "-q"}
	for _, label := range []string{c.Called.Ours, c.Called.Base, c.Called.Theirs} {
		args = append(args, "-L", label)
	}
	for i, file := range []string{"ours", "base", "theirs"} {
		o, err := s.repo.Objects.Batch().Typed(ctx, string([]Version{ours, c.From, c.To}[i].Entry.OID), "blob")
		if err != nil {
			return "", false, err
		}
		at := filepath.Join(dir, file)
		if err := os.WriteFile(at, o.Data, 0o600); err != nil {
			return "", false, err
		}
		args = append(args, at)
	}
	// The markers must not depend on the user's configuration.
	out, err := s.repo.Run(ctx, git.Cmd{Args: args, Config: []string{"merge.conflictStyle=merge"}})
	code := git.ExitCode(err)
	switch {
	case err == nil:
		clean = true
	case ctx.Err() != nil || code < 0:
		return "", false, err
	case code > mostConflicts:
		return "", false, nil
	}
	oid, err = s.repo.Objects.Write(ctx, "blob", out.Stdout)
	return oid, clean, err
}
