package linked

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/lockfile"
)

// Note says that a process is making a worktree. It is a JSON file in the common git
// directory.
type Note struct {
	Kind    string       `json:"kind"` // KindFork or KindBisect
	Name    string       `json:"name"`
	Dir     string       `json:"dir"` // the absolute path of the worktree
	Session name.Session `json:"session"`
	// Process identifies the process that makes it, so that others can tell whether it
	// still runs.
	Process string `json:"process"`

	file string
}

// The kinds of worktrees that are made.
const (
	KindFork   = "fork"
	KindBisect = "bisect"
)

func notesDir(repo *git.Repo) string {
	return filepath.Join(repo.CommonDir, "checkpoint", "worktrees")
}

// ErrTaken means that a worktree of this name is already being made, or was left half-made.
var ErrTaken = errors.New("a worktree of this name is already being made")

// Begin writes the note, before anything of the worktree exists. It also reserves the name:
// of two processes, one gets ErrTaken.
func Begin(repo *git.Repo, n Note) (*Note, error) {
	n.Process = snapshot.ProcessNote()
	data, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(notesDir(repo), 0o777)
	}
	n.file = filepath.Join(notesDir(repo), n.Kind+"-"+n.Name+suffix)
	if err == nil {
		err = lockfile.Create(n.file, data)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrTaken
	}
	return &n, err
}

const suffix = ".json"

// End removes the note, once the worktree is complete or removed.
func (n *Note) End() error {
	err := os.Remove(n.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// Left returns the notes of processes that no longer run, whose worktrees are half-made. The
// session of a fork is made last, so if it exists, the fork is complete, and its note is
// removed here: the user may have worked in that worktree for days.
func Left(ctx context.Context, repo *git.Repo) ([]Note, error) {
	entries, err := os.ReadDir(notesDir(repo))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var left []Note
	for _, e := range entries {
		// A temporary file of another process.
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		n := Note{file: filepath.Join(notesDir(repo), e.Name())}
		data, err := os.ReadFile(n.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case json.Unmarshal(data, &n) != nil: // not written by this program
			continue
		case snapshot.ProcessRuns(n.Process):
			continue
		}
		if n.Kind == KindFork {
			switch _, err := repo.Refs.Resolve(ctx, name.JournalRef(n.Session)); {
			case errors.Is(err, git.ErrMissing):
			case err != nil:
				return nil, err
			default:
				if err := n.End(); err != nil {
					return nil, err
				}
				continue
			}
		}
		left = append(left, n)
	}
	return left, nil
}
