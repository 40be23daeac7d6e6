package inspect

// This file keeps what the last validation found, so that `list` can mark broken checkpoints
// without a validation of its own.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
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
