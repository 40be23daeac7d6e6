package inspect

// This file has what a worktree notes beside git's objects: what the last validation found, so that `list`
// can mark broken checkpoints without a validation of its own, which process watches it, and how much only
// checkpoints hold.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lockfile"
	"git-checkpoint/internal/sys/wholefile"
)

// Broken maps checkpoints to what the last validation of their session found in this worktree. It
// is a local file and not part of the journal, because damage concerns one object store: another
// clone may have the objects.
type Broken map[name.ID][]checkpoint.Finding

// brokenLine is one line of the file, as JSON.
type brokenLine struct {
	Checkpoint name.ID              `json:"checkpoint"`
	Findings   []checkpoint.Finding `json:"findings"`
}

// brokenFile returns the path of a session's file.
func brokenFile(repo *git.Repo, session name.Session) string {
	return filepath.Join(repo.GitDir, "checkpoint", "broken-"+string(session))
}

// ReadBroken returns what the last validation of a session found. A file that cannot be read counts
// as empty.
func ReadBroken(repo *git.Repo, session name.Session) Broken {
	b := Broken{}
	data, err := os.ReadFile(brokenFile(repo, session))
	if err != nil {
		return b
	}
	for line := range bytes.Lines(data) {
		var l brokenLine
		if json.Unmarshal(line, &l) == nil && len(l.Findings) > 0 {
			b[l.Checkpoint] = l.Findings
		}
	}
	return b
}

// WriteBroken stores what a validation found. An empty list removes the file.
func WriteBroken(s *store.Store, session name.Session, b Broken) error {
	path := brokenFile(s.Repo, session)
	if len(b) == 0 {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil // a file system that can only be read would refuse to remove it
		}
		return os.Remove(path)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	// One line for each checkpoint, so that a damaged line hides only its own.
	for id, findings := range b {
		if err := encoder.Encode(brokenLine{id, findings}); err != nil {
			return err
		}
	}
	return s.WriteFile(filepath.Base(path), out.Bytes())
}

// watcherFile is the file in the worktree's disposable directory that names the running watcher.
const watcherFile = "watcher"

// Watching reports whether a watcher runs in this worktree.
func Watching(repo *git.Repo) bool {
	note, err := os.ReadFile(filepath.Join(repo.GitDir, "checkpoint", watcherFile))
	return err == nil && snapshot.ProcessRuns(string(note))
}

// BeWatcher makes this process the watcher of the worktree until release is called. It refuses if
// another one runs. The lock names its process, so that a killed watcher does not block the next one.
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

// space is what was measured of all checkpoints, in a file of the common directory that may be
// deleted at any time.
type space struct {
	Bytes int64 `json:"bytes"` // size on disk of the objects that only they hold
	Slow  bool  `json:"slow"`  // to measure took longer than spaceLimit, so Bytes is an older figure
	At    int64 `json:"at"`    // seconds of Unix
}

const (
	// spaceFresh is for how many seconds a figure is used, and spaceStale the same for one that
	// could not be measured in time.
	spaceFresh = 600
	spaceStale = 24 * 3600
	spaceLimit = 200 * time.Millisecond // how long somebody waits for the figure
)

// spaceOf returns how much only checkpoints hold, of all sessions. The figure may be ten minutes
// old: to measure it, git walks all objects of checkpoints. It is 0 if it is not known, for example
// because measuring takes too long.
func spaceOf(ctx context.Context, s *store.Store) int64 {
	file := filepath.Join(s.Repo.CommonDir, "checkpoint", "space")
	now := space{At: s.Now().Unix()}
	var was space
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &was) == nil {
		stands := int64(spaceFresh)
		if was.Slow {
			stands = spaceStale
		}
		if age := now.At - was.At; age >= 0 && age < stands {
			return was.Bytes
		}
	}
	if refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot); err != nil || len(refs) == 0 {
		return 0
	}
	limited, cancel := context.WithTimeout(ctx, spaceLimit)
	defer cancel()
	res, err := s.Repo.Run(limited, git.Cmd{Args: []string{
		"rev-list", "--objects", "--disk-usage", "--ignore-missing", "--missing=allow-any", "--glob=" + name.CheckpointRoot + "*",
		"--not", "HEAD", "--branches", "--remotes", "--exclude=" + name.TagRoot + "*", "--tags",
	}})
	switch {
	case err == nil:
		fmt.Sscan(strings.TrimSpace(string(res.Stdout)), &now.Bytes) //nolint:errcheck // zero when git says nothing
	case limited.Err() == nil:
		return 0
	default:
		now.Bytes, now.Slow = was.Bytes, true
	}
	write := func(w io.Writer) error { return json.NewEncoder(w).Encode(now) }
	wholefile.Write(file, s.Repo.Settings.PrivateMode(), write) //nolint:errcheck // it is measured again
	return now.Bytes
}
