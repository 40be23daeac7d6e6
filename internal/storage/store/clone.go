package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/sys/lockfile"
)

// CloneNumber returns nine random digits that all worktrees of this clone have, as long as it exists. They are
// written on first use. A copy of the clone gets others, when its main worktree gets another id.
func (s *localFiles) CloneNumber() (string, error) {
	if s.repo.GitDir == s.repo.CommonDir {
		if _, err := s.WorktreeID(); err != nil {
			return "", err
		}
	}
	path := s.clonePath()
	for range 3 {
		data, err := readSmall(path)
		if number := strings.TrimSuffix(data, "\n"); err == nil && len(number) == 9 && strings.Trim(number, "0123456789") == "" {
			return number, nil
		}
		if err == nil {
			os.Remove(path) //nolint:errcheck // Create says so if it is still there
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", fmt.Errorf("make %q: %w", filepath.Dir(path), err)
		}
		number := fmt.Sprintf("%09d\n", s.random()%1_000_000_000)
		if err := lockfile.Create(path, []byte(number)); err != nil && !os.IsExist(err) {
			return "", fmt.Errorf("write the number of this clone: %w", err)
		}
	}
	return "", brokenFile(path, fmt.Errorf("it is not a number of nine digits"))
}

func (s *localFiles) clonePath() string {
	return filepath.Join(s.repo.CommonDir, "checkpoint", "clone")
}
