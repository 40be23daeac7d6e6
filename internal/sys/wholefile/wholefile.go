// Package wholefile writes files that people keep: what they export, and settings of other programs.
package wholefile

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Write writes a file in one step: to a temporary file beside it, which is then renamed. No reader
// sees half of it, and when write fails the file that was there stays. That file's permissions stay
// too; a new file gets perm, reduced by the umask. A symbolic link is replaced, not followed, but one
// to a device is refused like the device itself: root could replace /dev/null.
func Write(name string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	info, statErr := os.Stat(name)
	if statErr == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("not a regular file")}
	}
	// Each name is different, so that a file that a killed process left is never in the way.
	// os.CreateTemp is not used, because its files have mode 0600 whatever the umask says.
	temp := filepath.Join(filepath.Dir(name), prefix+rand.Text())
	sweep(filepath.Dir(name))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		if of, is := errors.AsType[*fs.PathError](err); is { // the temporary name means nothing to people
			of.Op, of.Path = "write", name
		}
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the error that is returned is the one that matters
		}
	}()
	err = write(f)
	if err == nil && statErr == nil {
		var made fs.FileInfo
		if made, err = f.Stat(); err == nil && made.Mode().Perm() != info.Mode().Perm() {
			err = f.Chmod(info.Mode().Perm()) // some file systems refuse any chmod
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

const prefix = ".git-checkpoint-" // of temporary files

// sweep removes the temporary files that killed processes left in a directory a day ago.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir) //nolint:errcheck // it may be unreadable, and yet take a file
	for _, e := range entries {
		if random, is := strings.CutPrefix(e.Name(), prefix); !is || len(random) != len(rand.Text()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > 24*time.Hour {
			os.Remove(filepath.Join(dir, e.Name())) //nolint:errcheck // it may be another account's
		}
	}
}

// Remove removes a file that need not be there.
func Remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Private writes a value as JSON to a file that only its owner may read, as Write does.
func Private(name string, value any) error {
	return Write(name, 0o600, func(to io.Writer) error { return json.NewEncoder(to).Encode(value) })
}

// Bytes writes a file with this content, as Write does.
func Bytes(name string, perm fs.FileMode, content []byte) error {
	return Write(name, perm, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}
