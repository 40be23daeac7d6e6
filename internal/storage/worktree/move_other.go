//go:build !unix

package worktree

import (
	"io/fs"
	"os"
	"time"
)

// openNoFollow is 0, because there is no such flag here; lstat comes before every open.
const openNoFollow = 0

func (w *Files) MoveOut(p, to string) error      { return os.Rename(w.Abs(p), to) }
func (w *Files) LinkTo(p, to string) error       { return os.Link(w.Abs(p), to) }
func (w *Files) RenameOver(from, p string) error { return os.Rename(from, w.Abs(p)) }
func (w *Files) Rmdir(dir string) error          { return w.Root.Remove(dir) }

func CreateFile(file string) (*os.File, error) {
	return os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// ChangeTime returns the mtime, because there is no ctime here.
func ChangeTime(info fs.FileInfo) time.Time { return info.ModTime() }

// Inode returns false: there are no inode numbers to compare.
func Inode(fs.FileInfo) (dev, ino uint64, ok bool) { return 0, 0, false }

// Links returns 1: a file is never known to have further names.
func Links(fs.FileInfo) uint64 { return 1 }
