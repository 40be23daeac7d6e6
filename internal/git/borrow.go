package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"git-checkpoint/internal/git/gitconfig"
)

// ErrBorrowed says that refs cannot be written after Borrow, because their objects are not in the
// repository.
var ErrBorrowed = errors.New("this repository is read-only")

// Unwritable reports whether err says that this program, or a git that it started, was not able to
// write: no permission, a read-only file system, or a full disk.
func Unwritable(err error) bool {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return true
	}
	var e *Error
	return errors.As(err, &e) && (strings.Contains(e.Stderr, "insufficient permission for adding an object") ||
		strings.Contains(e.Stderr, "nable to create temporary file")) // index-pack
}

// Borrow redirects new objects into a temporary directory, which Close removes. Existing objects
// are read from where they are: the temporary directory has the repository as its alternate. So
// commands that only compare (and need to write trees for that) work in a repository that is
// read-only for the user. Refs.Update fails afterwards.
//
// The processes that were started before know the old environment, so they are ended.
func (o *Objects) Borrow() error {
	if o.borrowed != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-")
	if err != nil {
		return fmt.Errorf("make a directory for what cannot be written to the repository: %w", err)
	}
	own := filepath.Join(dir, "objects")
	if err := os.Mkdir(own, 0o700); err != nil {
		os.Remove(dir) //nolint:errcheck // empty
		return fmt.Errorf("make a directory for what cannot be written to the repository: %w", err)
	}
	loose := o.database().loose
	others := quoteAlternate(loose.dir)
	if more := gitconfig.Getenv(o.at.env, alternates); more != "" {
		others += string(filepath.ListSeparator) + more
	}
	o.at.env = append(o.at.env, objectDirectory+"="+own, alternates+"="+others)
	loose.dir, o.borrowed = own, dir
	o.Batch().close() // another process begins with the new environment
	return nil
}

// The variables by which git is told to write objects to another directory and to read them from
// further ones.
const (
	objectDirectory = "GIT_OBJECT_DIRECTORY"
	alternates      = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
)

// quoteAlternate quotes a path for GIT_ALTERNATE_OBJECT_DIRECTORIES, if it contains the character
// that separates the entries of that list.
func quoteAlternate(path string) string {
	if !strings.ContainsRune(path, filepath.ListSeparator) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// Borrowed returns the temporary directory of Borrow, or "" if Borrow was not called.
func (o *Objects) Borrowed() string { return o.borrowed }
