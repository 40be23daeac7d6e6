//go:build !unix

package snapshot

import (
	"io/fs"
	"os"
	"time"
)

const openNoFollow = 0

func (w *worktree) aside(p, to string) error   { return os.Rename(w.abs(p), to) }
func (w *worktree) keep(p, to string) error    { return os.Link(w.abs(p), to) }
func (w *worktree) place(from, p string) error { return os.Rename(from, w.abs(p)) }

func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

func inode(fs.FileInfo) (dev, ino uint64, ok bool) { return 0, 0, false }

// running reports whether a process exists: where this is built for, a process that does
// not cannot be found.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release() //nolint:errcheck // it was only looked for
	return true
}

func links(fs.FileInfo) uint64 { return 1 }
