//go:build !linux

package snapshot

// What other systems do without: there git does the scan, paths are checked one component at a
// time, and a rollback replaces a file in two steps (replace.go).

import (
	"errors"
	"io/fs"
	"os"

	"git-checkpoint/internal/git"
)

func newNative(*gitScanner) Scanner { return nil }

// fileStat returns false: which fields git fills differs between systems, so git has to write
// them.
func fileStat(fs.FileInfo) (git.FileStat, bool) { return git.FileStat{}, false }

// errSlow says that a path must be checked one component at a time, which is always so here.
var errSlow = errors.New("one component at a time")

func (w *workFiles) reach(string, uint64) (*os.File, error) { return nil, errSlow }
func (w *workFiles) fastLstat(string) (fs.FileInfo, error)  { return nil, errSlow }
func (w *workFiles) enter(string) (*os.File, error)         { return nil, errSlow }

func (w *workFiles) swap(string, string) error      { return errNoSwap }
func (w *workFiles) renameNew(string, string) error { return errNoSwap }

func (w *workFiles) lockOf(string) string { return "" }
func (w *workFiles) heldBy(string) string { return "" }

// bornAt returns "", and ended false: start times are not looked up, and a zombie counts as running.
func bornAt(int) string { return "" }
func ended(int) bool    { return false }
