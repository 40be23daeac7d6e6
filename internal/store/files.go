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

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// TempPrefix begins the name of every temporary in <git dir>/checkpoint. What
// carries it and is old was left behind by a process that was killed.
const TempPrefix = "tmp-"

// ActiveSession is the session that this worktree works in, "" when none does. A
// file that holds no session is a *FileError.
func (s *Store) ActiveSession() (name.Session, error) {
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
		return "", &FileError{Path: path, Err: err}
	}
	return session, nil
}

// ActiveSessionToRead is ActiveSession for what changes nothing: a broken file is
// worth a warning, and then no session is active.
func (s *Store) ActiveSessionToRead() name.Session {
	session, err := s.ActiveSession()
	if err != nil {
		s.Warn(err.Error())
	}
	return session
}

// SetActiveSession makes a session the active one of this worktree.
func (s *Store) SetActiveSession(session name.Session) error {
	path, err := s.file("session")
	if err != nil {
		return err
	}
	if err := writeFile(path, []byte(string(session)+"\n")); err != nil {
		return fmt.Errorf("write the active session: %w", err)
	}
	return nil
}

// ClearActiveSession makes none active.
func (s *Store) ClearActiveSession() error {
	path, err := s.file("session")
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear the active session: %w", err)
	}
	return nil
}

// Sweep removes temporaries of this worktree that are older than age, and says how
// many. The time is the file system's own, which a fixed or wrong clock does not
// change.
func (s *Store) Sweep(age time.Duration) (int, error) {
	dir, err := s.Repo.Dir()
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

func (s *Store) file(leaf string) (string, error) {
	dir, err := s.Repo.Dir()
	return filepath.Join(dir, leaf), err
}

// readSmall reads no more than a small file can have.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, 256))
	return string(data), err
}

// writeFile replaces a file in one step.
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

// createFile writes a file in one step unless it exists.
func createFile(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // swept later
	if err := os.Link(temp, path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); err == nil { // a file system without links
		return fs.ErrExist
	}
	return os.Rename(temp, path)
}

func writeTemp(path string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept later
		return "", err
	}
	return f.Name(), nil
}
