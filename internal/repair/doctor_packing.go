package repair

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/background"
	"git-checkpoint/internal/checkpoint"
)

// lookAtPacking reports why the last packing in the background failed.
func lookAtPacking(_ context.Context, s *checkpoint.Service) ([]Ailment, error) {
	// The background process has no terminal, so it leaves its error in this file.
	path := filepath.Join(s.Repo.CommonDir, "checkpoint", background.PackFailed)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := strings.TrimSpace(string(text[:min(len(text), maxFailure)]))
	return []Ailment{{
		Kind: "packing_failed", Level: LevelAdvice, Object: path, Message: "packing in the background did not work: " + said,
		Hint: "`git fsck` shows what is wrong; packing is tried again after an hour",
	}}, nil
}

// maxFailure is how many bytes of git's error message are shown.
const maxFailure = 1 << 10
