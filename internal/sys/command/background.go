package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Directory returns the absolute path of this program's directory: the first one in PATH in which the
// program is found, which stays the same when a package manager puts a new version there, or else that
// of the file. It is empty if it is not known. A directory in the worktree does not count, because its
// content comes with a clone.
func Directory(worktree string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, _ := exec.LookPath(filepath.Join(dir, "git-checkpoint"))
		a, errA := os.Stat(found)
		b, errB := os.Stat(self)
		if !filepath.IsAbs(dir) || errA != nil || errB != nil || !os.SameFile(a, b) {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if rel, elsewhere := filepath.Rel(worktree, real); err == nil && (elsewhere != nil || !filepath.IsLocal(rel)) {
			return dir
		}
	}
	return filepath.Dir(self)
}

// Background starts this program again, with other arguments, as a process that continues when this
// one ends. It has no terminal and its output is discarded.
func Background(dir string, env []string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, args...) //nolint:noctx,gosec // it is this program, and outlives this context
	cmd.Args[0] = "git-checkpoint"
	cmd.Dir, cmd.Env = dir, env
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %q: %w", self, err)
	}
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("release %q: %w", self, err)
	}
	return nil
}
