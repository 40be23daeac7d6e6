// Package lockfile creates lock files, and takes over those that a killed process left behind. If
// several processes find such a lock, exactly one of them gets it.
//
// Taking over means to remove the old file and to create a new one. If two processes did that at
// the same time, the second could remove the new lock of the first, and both would hold it. So Take
// locks the directory (see hold), checks the lock again, and only then replaces it. Start reading
// at Take.
package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Take creates the file path with a note in it, and reports whether it could. If the file exists,
// Take calls left, which reports whether a process that is gone left it behind; then the file is
// replaced. left is called up to twice, and the file may disappear before it looks. The caller has to
// remove the file when it is done.
//
// The file appears with its note already in it, so nobody reads half a note.
func Take(path, note string, left func() bool) (bool, error) {
	// A caller that waits for a lock comes here often, so this check comes before any file is made.
	if taken(path, left) {
		return false, nil
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "tmp-lock-")
	if err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // by then the lock is a link to it, or it was renamed
	_, err = f.WriteString(note)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	release := hold(dir)
	defer release()
	if taken(path, left) {
		return false, nil // another process was faster
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("take over %q: %w", path, err)
	}
	err = Claim(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	return true, nil
}

// taken reports whether a process that is not gone holds the lock.
func taken(path string, left func() bool) bool {
	_, err := os.Lstat(path)
	return err == nil && !left()
}

// Claim gives the file from the additional name to. If to exists it returns fs.ErrExist and
// changes nothing. Without hard links it has to check and then rename, which is not atomic.
func Claim(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(to); there == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to) // no hard links here
}
