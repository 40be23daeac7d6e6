// Package lockfile makes lock files. If a process is killed while it holds a lock, the file stays;
// Take then removes it and makes a new one.
//
// These are two steps. If two processes found the old lock at the same time, the second could
// remove the new lock of the first, and both would believe that they hold it. So Take locks the
// directory (Hold), checks again that the lock is an old one, and only then replaces it.
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
// twice, and the file may vanish before it looks. Release ends the lock.
//
// The file appears with its note already in it, so nobody reads half a note.
func Take(path, note string, left func() bool) (bool, error) {
	// A caller that waits for a lock comes here often, so this check comes before any file is made.
	if taken(path, left) {
		return false, nil
	}
	release := Hold(filepath.Dir(path))
	defer release()
	if taken(path, left) {
		return false, nil // another process was faster
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("take over %q: %w", path, err)
	}
	err := Create(path, []byte(note))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("take %q: %w", path, err)
	}
	return true, nil
}

// Holds reports whether the lock is still the one that Take made with this note, and not that of
// a process that has taken it over since. The note must differ from those of other processes.
func Holds(path, note string) bool {
	data, err := os.ReadFile(path)
	return err == nil && string(data) == note
}

// Release removes a lock that Take made with this note, unless another process has taken it over.
func Release(path, note string) {
	if Holds(path, note) {
		os.Remove(path) //nolint:errcheck // it can be taken over
	}
}

// taken reports whether a process that is not gone holds the lock.
func taken(path string, left func() bool) bool {
	_, err := os.Lstat(path)
	return err == nil && !left()
}

// Create makes a file that only its owner may read. It appears with its content, and when all of then
// is done with it. If the file exists, Create returns fs.ErrExist and changes nothing. Without
// hard links it has to check and then rename, which is not atomic. What a kill leaves is called tmp-*.
func Create(path string, content []byte, then ...func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "tmp-"+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has its name by then, or is of no use
	_, err = f.Write(content)
	for _, do := range then {
		err = errors.Join(err, do(f))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(path); there == nil {
		return fs.ErrExist
	}
	return os.Rename(f.Name(), path) // no hard links here
}

// Same reports whether two paths are names of one file. Symbolic links
// are not followed.
func Same(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}
