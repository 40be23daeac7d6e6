package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"git-checkpoint/internal/gitconfig"
)

// ErrBorrowed says that refs are to be written whose objects are not in the repository.
var ErrBorrowed = errors.New("this repository can only be read")

// Unwritable reports whether err says that nothing may, or can, be written where it was
// tried: by this program, or by a git that it started.
func Unwritable(err error) bool {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return true
	}
	var e *Error
	return errors.As(err, &e) && strings.Contains(e.Stderr, "insufficient permission for adding an object")
}

// Borrow has new objects go to a directory of the system's temporary ones, which Close
// removes, and all others be read where they are: so what only compares works in a
// repository that may only be read. No ref can be written after it.
func (r *Repo) Borrow() error {
	if r.borrowed != "" {
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
	loose := r.database().loose
	others := quoteAlternate(loose.dir)
	if more := gitconfig.Getenv(r.env, alternates); more != "" {
		others += string(filepath.ListSeparator) + more
	}
	r.env = append(r.env, objectDirectory+"="+own, alternates+"="+others)
	loose.dir, r.borrowed = own, dir
	r.endRefs()
	r.apartLock.Lock()
	defer r.apartLock.Unlock()
	for _, b := range r.apart {
		b.close() //nolint:errcheck // another begins with the new environment
	}
	r.apart = nil
	return r.Batch().close()
}

const (
	objectDirectory = "GIT_OBJECT_DIRECTORY"
	alternates      = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
)

// quoteAlternate writes a path so that git takes it for one, whatever it holds.
func quoteAlternate(path string) string {
	if !strings.ContainsRune(path, filepath.ListSeparator) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// Borrowed is the directory for what cannot be written to the repository, "" as long as
// Borrow was not asked for.
func (r *Repo) Borrowed() string { return r.borrowed }
