package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// TempPrefix is the beginning of the names of all temporary files in <git dir>/checkpoint. An old
// file with this prefix was left by a process that was killed; see Sweep.
const TempPrefix = "tmp-"

// localFiles are the files of this worktree in <git dir>/checkpoint.
type localFiles struct {
	repo   *git.Repo
	random func() uint32
}

// ActiveSession returns the session that this worktree works in, or "" if there is none. The error
// names the file if that does not contain the name of a session.
func (s *localFiles) ActiveSession() (name.Session, error) {
	path, err := s.file("session")
	if err != nil {
		return "", err
	}
	data, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the active session: %w", err)
	}
	session, err := name.ParseSession(strings.TrimSuffix(data, "\n"))
	if err != nil {
		return "", brokenFile(path, err)
	}
	return session, nil
}

// SetActiveSession makes a session the active one of this worktree.
func (s *localFiles) SetActiveSession(session name.Session) error {
	if err := s.WriteFile("session", []byte(string(session)+"\n")); err != nil {
		return fmt.Errorf("set the active session: %w", err)
	}
	return nil
}

// ClearActiveSession leaves this worktree without an active session.
func (s *localFiles) ClearActiveSession() error {
	if err := s.remove("session"); err != nil {
		return fmt.Errorf("clear the active session: %w", err)
	}
	return nil
}

// remove deletes a file in <git dir>/checkpoint, if it exists.
func (s *localFiles) remove(leaf string) error {
	path, err := s.file(leaf)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sweep removes temporary files of this worktree that are older than age, and returns their number.
// It compares mtimes with that of a file that it creates now, so that a wrong clock, or that of a
// file server, does not matter. The proofs of ref locks are not swept: git.Refs.Reclaim needs them.
func (s *localFiles) Sweep(age time.Duration) (int, error) {
	dir, err := s.repo.Dir()
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("sweep temporaries: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), TempPrefix) || strings.HasPrefix(e.Name(), git.RefTempPrefix)
	})
	if len(entries) == 0 {
		return 0, nil
	}
	// The mtime of a new file is the file system's current time.
	probe, err := os.CreateTemp(dir, TempPrefix+"now-")
	if err != nil {
		return 0, fmt.Errorf("sweep temporaries: %w", err)
	}
	defer os.Remove(probe.Name()) //nolint:errcheck // it is a temporary
	defer probe.Close()           //nolint:errcheck // nothing was written
	now, err := probe.Stat()
	if err != nil {
		return 0, fmt.Errorf("sweep temporaries: %w", err)
	}
	swept := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.ModTime().Sub(info.ModTime()) <= age {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return swept, fmt.Errorf("sweep temporaries: %w", err)
		}
		swept++
	}
	return swept, nil
}

// file returns the path of a file in <git dir>/checkpoint.
func (s *localFiles) file(leaf string) (string, error) {
	dir, err := s.repo.Dir()
	return filepath.Join(dir, leaf), err
}

// WriteFile atomically replaces the file leaf in <git dir>/checkpoint.
func (s *localFiles) WriteFile(leaf string, data []byte) error {
	path, err := s.file(leaf)
	if err != nil {
		return err
	}
	return writeNamed(path, data)
}

// WriteShared is WriteFile for a file that all worktrees share.
func (s *localFiles) WriteShared(leaf string, data []byte) error {
	dir := filepath.Join(s.repo.CommonDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make %q: %w", dir, err)
	}
	return writeNamed(filepath.Join(dir, leaf), data)
}

// writeNamed is writeFile with an error that names the file.
func writeNamed(path string, data []byte) error {
	if err := writeFile(path, data); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// readSmall reads at most 256 bytes, more than a valid small file has.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, 256))
	return string(data), err
}

// writeFile replaces a file atomically: it writes a temporary file and renames it.
func writeFile(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp) //nolint:errcheck // swept later
		return err
	}
	return nil
}

// writeTemp writes data to a new temporary file beside path and returns its name.
func writeTemp(path string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept later
		return "", err
	}
	return f.Name(), nil
}
