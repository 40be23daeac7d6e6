package inspect

// This file makes sure that one worktree has one watcher. The lock is a file that names its
// process, so that a killed watcher does not block the next one.

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/lockfile"
)

// watcherFile is the file in the worktree's disposable directory that names the running watcher.
const watcherFile = "watcher"

// Watching reports whether a watcher runs in this worktree.
func Watching(repo *git.Repo) bool {
	note, err := os.ReadFile(filepath.Join(repo.GitDir, "checkpoint", watcherFile))
	return err == nil && snapshot.ProcessRuns(string(note))
}

// BeWatcher makes this process the watcher of the worktree until release is called. It refuses if
// another one runs.
func BeWatcher(repo *git.Repo) (release func(), err error) {
	dir, err := repo.Dir()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, watcherFile)
	note := snapshot.ProcessNote()
	mine, err := lockfile.Take(file, note, func() bool { return !Watching(repo) })
	if err != nil {
		return nil, err
	}
	if !mine {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "Ctrl+C in its terminal stops it", "a watcher is already running in this worktree")
	}
	return func() { lockfile.Release(file, note) }, nil
}

// Ignored returns which of some directories git ignores. The paths are relative to the top of the
// worktree.
func Ignored(ctx context.Context, repo *git.Repo, dirs []string) (map[string]bool, error) {
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		// The slash makes git apply patterns that match directories only.
		paths[i] = dir + "/"
	}
	named, err := snapshot.Ignored(ctx, repo, nil, paths)
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for path := range named {
		ignored[strings.TrimSuffix(path, "/")] = true
	}
	delete(ignored, ".")
	return ignored, nil
}
