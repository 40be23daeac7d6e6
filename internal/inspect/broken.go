package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// Broken is what the last validation of a session found in this worktree. Damage belongs
// to this object store: another clone may have it whole, so it is no part of the journal.
type Broken map[name.ID][]checkpoint.Finding

// maxBroken bounds what is read back of it.
const maxBroken = 64 << 20

// brokenLine is one line of the file.
type brokenLine struct {
	Checkpoint name.ID              `json:"checkpoint"`
	Findings   []checkpoint.Finding `json:"findings"`
}

func brokenFile(s *checkpoint.Service, session name.Session) string {
	return filepath.Join(s.Repo.GitDir, "checkpoint", "broken-"+string(session))
}

// ReadBroken reads what the last validation found; a file that cannot be read says
// nothing.
func ReadBroken(s *checkpoint.Service, session name.Session) Broken {
	b := Broken{}
	path := brokenFile(s, session)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxBroken {
		return b
	}
	data, err := os.ReadFile(path)
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

// WriteBroken keeps what was found, for list and manifest.
func WriteBroken(s *checkpoint.Service, session name.Session, b Broken) error {
	path := brokenFile(s, session)
	if len(b) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return checkpoint.Classify(err)
		}
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for id, findings := range b {
		if err := encoder.Encode(brokenLine{id, findings}); err != nil {
			return checkpoint.Classify(err)
		}
	}
	if err := s.Store.WriteFile(filepath.Base(path), out.Bytes()); err != nil {
		return checkpoint.Classify(err)
	}
	return nil
}
