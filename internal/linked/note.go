package linked

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// Note says that a worktree is being made, by a process that may be killed.
type Note struct {
	Kind    string       `json:"kind"` // fork or bisect
	Name    string       `json:"name"`
	Dir     string       `json:"dir"`
	Session name.Session `json:"session"`
	Process string       `json:"process"`

	file string
}

// The kinds of worktrees.
const (
	KindFork   = "fork"
	KindBisect = "bisect"
)

func notesDir(s *checkpoint.Service) string {
	return filepath.Join(s.Repo.CommonDir, "checkpoint", "worktrees")
}

// ErrTaken says that a worktree of this name is being made, or was left half-made.
var ErrTaken = errors.New("a worktree of this name is being made")

// Begin writes the note, before anything of the worktree is there. It reserves the name:
// of two processes at once one gets ErrTaken.
func Begin(s *checkpoint.Service, n Note) (*Note, error) {
	n.Process = snapshot.ProcessNote()
	data, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(notesDir(s), 0o777)
	}
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	f, err := os.CreateTemp(notesDir(s), "tmp-")
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	n.file = filepath.Join(notesDir(s), n.Kind+"-"+n.Name+suffix)
	if err == nil {
		err = os.Link(f.Name(), n.file)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrTaken
	}
	return &n, checkpoint.Classify(err)
}

const suffix = ".json"

// End removes the note: the worktree is whole, or gone.
func (n *Note) End() error {
	err := os.Remove(n.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return checkpoint.Classify(err)
}

// Left gives the notes of processes that are dead: their worktrees are half-made.
func Left(s *checkpoint.Service) ([]Note, error) {
	entries, err := os.ReadDir(notesDir(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	var left []Note
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) { // another process is writing it
			continue
		}
		n := Note{file: filepath.Join(notesDir(s), e.Name())}
		data, err := os.ReadFile(n.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, checkpoint.Classify(err)
		case json.Unmarshal(data, &n) != nil: // nobody of this program wrote it
			continue
		case !snapshot.ProcessRuns(n.Process):
			left = append(left, n)
		}
	}
	return left, nil
}
