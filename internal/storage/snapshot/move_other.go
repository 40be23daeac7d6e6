//go:build !unix

package snapshot

import (
	"io/fs"
	"os"
	"time"
)

// There is no such flag here; lstat comes before every open.
const openNoFollow = 0

func (w *workFiles) aside(p, to string) error        { return os.Rename(w.abs(p), to) }
func (w *workFiles) linkTo(p, to string) error       { return os.Link(w.abs(p), to) }
func (w *workFiles) renameOver(from, p string) error { return os.Rename(from, w.abs(p)) }
func (w *workFiles) drop(dir string) error           { return w.root.Remove(dir) }

func createFile(file string) (*os.File, error) {
	return os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
}

// There is no ctime here, so the mtime stands for it.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

// inode returns false: there are no inode numbers to compare.
func inode(fs.FileInfo) (dev, ino uint64, ok bool) { return 0, 0, false }

// links returns 1: a file is never known to have further names.
func links(fs.FileInfo) uint64 { return 1 }
