package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Forget deletes what was remembered.
func (s *Service) Forget(files ...string) error {
	for _, file := range files {
		if err := os.Remove(s.memory(file)); err != nil && !os.IsNotExist(err) {
			return Classify(err)
		}
	}
	return nil
}

// What a chat has to remember between two lines stands in the worktree's disposable
// files.
const (
	ChatFile   = "chat.json"
	FailedFile = "failed.json"
	chosenFile = "chosen.json"

	resumedFile = "resumed.json"
)

func (s *Service) memory(file string) string { return filepath.Join(s.Repo.GitDir, "checkpoint", file) }

// Recall reads what was remembered; false when there is nothing, or nothing that can
// be read.
func (s *Service) Recall(file string, into any) (bool, error) {
	data, err := os.ReadFile(s.memory(file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, Classify(err)
	}
	return json.Unmarshal(data, into) == nil, nil
}

// Remember writes a disposable file of this worktree, as JSON.
func (s *Service) Remember(file string, what any) error {
	dir, err := s.Repo.Dir()
	if err != nil {
		return Classify(err)
	}
	data, err := json.Marshal(what)
	if err != nil {
		return Classify(err)
	}
	f, err := os.CreateTemp(dir, "tmp-chat-")
	if err != nil {
		return Classify(err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, file))
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept by age
	}
	return Classify(err)
}
