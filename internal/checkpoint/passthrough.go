package checkpoint

import (
	"context"
	"io"
	"path/filepath"
	"syscall"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// IO is where git's own output goes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Color    string // "always", "never", or "" for what git is configured to
}

// DiffFiles lets git print the files that differ between the two sides, with its
// flags, below the paths. It gives git's exit code.
func (s *Service) DiffFiles(ctx context.Context, d *Difference, paths, flags []string, to IO) (int, error) {
	var empty name.OID
	err := s.lookOn(func() (err error) {
		empty, err = s.repo.WriteTree(ctx, nil)
		return classify(err)
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
	return s.pass(ctx, append(args, paths...), to)
}

// Log lets git print the log of a session's checkpoints, the newest first, each
// once, with their notes.
func (s *Service) Log(ctx context.Context, session string, args []string, to IO) (int, error) {
	chosen, err := s.chooseSession(ctx, session)
	if err != nil {
		return 1, err
	}
	st, err := s.state(ctx, chosen)
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
		return 1, noCheckpoint(st)
	}
	line := []string{"--no-pager", "log", "--no-walk=unsorted", "--stdin", "--notes=checkpoints", "--first-parent"} // which is what merges are compared with then
	if to.Color != "" {
		line = append(line, "--color="+to.Color)
	}
	to.In = newLines(commits)
	return s.pass(ctx, append(line, args...), to)
}

// pass runs git where the user is, with the user's own configuration for output.
func (s *Service) pass(ctx context.Context, args []string, to IO) (int, error) {
	if quoted, err := s.repo.Config.Bool("core.quotePath", true); err == nil && !quoted {
		args = append([]string{"-c", "core.quotePath=false"}, args...) // elsewhere names are parsed
	}
	dir := filepath.Join(s.repo.WorkTree, filepath.FromSlash(s.repo.Prefix))
	_, err := s.repo.Run(ctx, git.Cmd{Args: args, Dir: dir, Stdin: to.In, Stdout: to.Out, Stderr: to.Err})
	if code := git.ExitCode(err); code > 0 {
		return code, nil
	}
	if git.EndedBy(err, syscall.SIGPIPE) { // who read it has seen enough
		return 128 + int(syscall.SIGPIPE), nil
	}
	return 0, classify(err)
}
