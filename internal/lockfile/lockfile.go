// Package lockfile takes lock files that survive a kill: a lock that its process left behind is
// taken over, by one of all processes that find it.
//
// To remove such a lock and to make a new one are two steps. Without more, two processes could
// both find it, the second would remove the fresh lock of the first, and both would hold it. So
// Take does both, and looks once more before, while it holds the directory (Hold). Take is the
// place to start.
package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Take creates the file path with a note in it and reports whether it could. If the file exists,
// left is asked whether a process that is gone left it behind; it is replaced then. left is asked
// twice, and the file may vanish before it looks. The caller has to remove the file in the end.
//
// The file appears together with its note, so that nobody reads half of it.
func Take(path, note string, left func() bool) (bool, error) {
	// Somebody who waits for a lock comes here often.
	if taken(path, left) {
		return false, nil
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "tmp-lock-")
	if err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then
	_, err = f.WriteString(note)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	release := Hold(dir)
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
