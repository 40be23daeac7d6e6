package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/wholefile"
)

// Changes reports whether the change modifies, creates or deletes the file.
func (c Change) Changes() bool {
	return (c.Before == nil) != (c.After == nil) || !bytes.Equal(c.Before, c.After)
}

// ErrEdited means that the file was modified by another program after the change was
// planned.
var ErrEdited = errors.New("it has changed in the meantime; run the command again")

// Apply carries out a change and updates the receipt. An existing file keeps its mode. A
// new file gets 0666 reduced by the umask.
func (c Change) Apply(receipt Receipt) error {
	if !c.Changes() {
		return nil
	}
	now, err := read(c.Path)
	if err != nil {
		return err
	}
	if now.Path != c.Path || !bytes.Equal(now.Before, c.Before) || (now.Before == nil) != (c.Before == nil) {
		return fmt.Errorf("%s: %w", c.Path, ErrEdited)
	}
	if c.After == nil {
		return c.drop(receipt)
	}
	written := receipt[c.Path]
	written.Inserted = renewedIn(written.Inserted, c.renewed)
	if c.Before == nil {
		written.Created = true
		if written.Directories, err = makeDirectories(filepath.Dir(c.Path)); err != nil {
			return err
		}
	}
	if len(c.inserted) > 0 {
		written.Inserted = append(written.Inserted, c.inserted...)
	} else if c.Before != nil && !c.updated && len(c.renewed) == 0 {
		// A removal: the entries of this agent are gone.
		if written.Inserted = written.insertionsWithout(c.agent); len(written.Inserted) == 0 {
			delete(receipt, c.Path)
		}
	}
	if _, known := receipt[c.Path]; c.Before == nil || len(c.inserted) > 0 || known {
		receipt[c.Path] = written
	}
	return wholefile.Bytes(c.Path, 0o666, c.After)
}

// drop deletes the file, and those of the directories created for it that are empty. A directory
// that holds another file of ours is deleted with that one.
func (c Change) drop(receipt Receipt) error {
	if err := os.Remove(c.Path); err != nil {
		return err
	}
	made := receipt[c.Path].Directories
	delete(receipt, c.Path)
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) == nil {
			continue
		}
		for path, other := range receipt {
			if strings.HasPrefix(path, made[i]+string(filepath.Separator)) {
				other.Directories = slices.Concat(made[:i+1], other.Directories)
				receipt[path] = other
				break
			}
		}
		return nil
	}
	return nil
}

// makeDirectories creates a directory with its parents and returns those that were missing,
// outermost first.
func makeDirectories(dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append([]string{at}, made...)
	}
	return made, os.MkdirAll(dir, 0o777)
}
