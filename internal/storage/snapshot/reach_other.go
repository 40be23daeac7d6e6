//go:build !linux

package snapshot

// On other systems paths are checked one component at a time, and a rollback replaces a file in two
// steps.

import (
	"errors"
	"io/fs"
	"os"
)

// errSlow says that a path must be checked one component at a time, which is always so here.
var errSlow = errors.New("one component at a time")

func (w *workFiles) reach(string, uint64) (*os.File, error) { return nil, errSlow }
func (w *workFiles) fastLstat(string) (fs.FileInfo, error)  { return nil, errSlow }
func (w *workFiles) enter(string) (*os.File, error)         { return nil, errSlow }

func (w *workFiles) swap(string, string) error      { return errNoSwap }
func (w *workFiles) renameNew(string, string) error { return errNoSwap }

func (w *workFiles) lockOf(string) string { return "" }
func (w *workFiles) heldBy(string) string { return "" }
