package inspect

import (
	"context"
	"io"
	"path/filepath"
	"syscall"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// IO is where git's own output goes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Color    string // "always", "never", or "" for what git is configured to
}

// PrintDiff lets git print the files that differ between the two sides, with its
// flags, below the paths. It gives git's exit code.
func PrintDiff(ctx context.Context, s *checkpoint.Service, d *Difference, paths, flags []string, to IO) (int, error) {
	var empty name.OID
	err := s.RetryBorrowed(func() (err error) {
		empty, err = s.Repo.WriteTree(ctx, nil)
		return checkpoint.Classify(err)
	})
	if err != nil {
		return 1, err
	}
	side := func(oid name.OID) string {
		if oid == "" {
			return string(empty)
		}
		return string(oid)
	}
	args := append([]string{"--no-pager", "diff"}, flags...)
	if to.Color != "" {
		args = append(args, "--color="+to.Color)
	}
	args = append(args, side(d.FromTree), side(d.ToTree), "--")
	return pass(ctx, s, append(args, paths...), to)
}

// PrintLog lets git print the log of a session's checkpoints, the newest first, each
// once, with their notes.
func PrintLog(ctx context.Context, s *checkpoint.Service, session string, args []string, to IO) (int, error) {
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		return 1, err
	}
	st, err := s.State(ctx, chosen)
	if err != nil {
		return 1, err
	}
	var commits []string
	for i, c := range st.Backward() {
		if !c.Dead && !c.Safety {
			commits = append(commits, string(st.At(i).Event().Commit))
		}
	}
	if len(commits) == 0 {
		return 1, checkpoint.NoCheckpointError(st)
	}
	line := []string{"--no-pager", "log", "--no-walk=unsorted", "--stdin", "--notes=checkpoints", "--first-parent"} // which is what merges are compared with then
	if to.Color != "" {
		line = append(line, "--color="+to.Color)
	}
	to.In = newLines(commits)
	return pass(ctx, s, append(line, args...), to)
}

// pass runs git where the user is, with the user's own configuration for output.
func pass(ctx context.Context, s *checkpoint.Service, args []string, to IO) (int, error) {
	if quoted, err := s.Repo.Config.Bool("core.quotePath", true); err == nil && !quoted {
		args = append([]string{"-c", "core.quotePath=false"}, args...) // elsewhere names are parsed
	}
	dir := filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix))
	_, err := s.Repo.Run(ctx, git.Cmd{Args: args, Dir: dir, Stdin: to.In, Stdout: to.Out, Stderr: to.Err})
	if code := git.ExitCode(err); code > 0 {
		return code, nil
	}
	if git.EndedBy(err, syscall.SIGPIPE) { // who read it has seen enough
		return 128 + int(syscall.SIGPIPE), nil
	}
	return 0, checkpoint.Classify(err)
}
