//go:build !linux

package worktree

// On other systems paths are checked one component at a time, and a rollback replaces a file in two
// steps.

import (
	"errors"
	"io/fs"
	"os"
)

// errSlow says that a path must be checked one component at a time, which is always so here.
var errSlow = errors.New("one component at a time")

func (w *Files) reach(string, uint64) (*os.File, error) { return nil, errSlow }
func (w *Files) fastLstat(string) (fs.FileInfo, error)  { return nil, errSlow }
func (w *Files) enter(string) (*os.File, error)         { return nil, errSlow }

func (w *Files) Swap(string, string) error      { return ErrNoSwap }
func (w *Files) RenameNew(string, string) error { return ErrNoSwap }

// TakesDirs returns false, because RenameNew does not work here.
func (w *Files) TakesDirs(string) bool { return false }

func (w *Files) LockOf(string) string { return "" }
func (h *Held) HeldBy(string) string  { return "" }
