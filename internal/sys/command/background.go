package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	name := "git-checkpoint"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	file, err := os.Stat(self)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, missing := os.Stat(filepath.Join(dir, name))
		real, gone := filepath.EvalSymlinks(dir)
		if !filepath.IsAbs(dir) || err != nil || missing != nil || gone != nil || !os.SameFile(found, file) {
			continue
		}
		if rel, err := filepath.Rel(worktree, real); err != nil || !filepath.IsLocal(rel) {
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
