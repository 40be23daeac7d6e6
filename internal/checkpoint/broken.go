package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
)

// broken is what the last validation of a session found in this worktree. Damage belongs
// to this object store: another clone may have it whole, so it is no part of the journal.
type broken map[name.ID][]Finding

// maxBroken bounds what is read back of it.
const maxBroken = 64 << 20

// brokenLine is one line of the file.
type brokenLine struct {
	Checkpoint name.ID   `json:"checkpoint"`
	Findings   []Finding `json:"findings"`
}

// note keeps what is damage: that a signature was demanded is a matter of one validation.
func (b broken) note(v Validated) {
	for _, f := range v.Findings {
		if f.Kind != proof.Unsigned && f.Kind != proof.SignatureUnchecked {
			b[v.Checkpoint] = append(b[v.Checkpoint], f)
		}
	}
}

func (s *Service) brokenFile(session name.Session) string {
	return filepath.Join(s.repo.GitDir, "checkpoint", "broken-"+string(session))
}

// readBroken reads what the last validation found; a file that cannot be read says
// nothing.
func (s *Service) readBroken(session name.Session) broken {
	b := broken{}
	path := s.brokenFile(session)
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

// writeBroken keeps what was found, for list and manifest.
func (s *Service) writeBroken(session name.Session, b broken) error {
	path := s.brokenFile(session)
	if len(b) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return classify(err)
		}
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for id, findings := range b {
		if err := encoder.Encode(brokenLine{id, findings}); err != nil {
			return classify(err)
		}
	}
	if err := s.store.WriteFile(filepath.Base(path), out.Bytes()); err != nil {
		return classify(err)
	}
	return nil
}
