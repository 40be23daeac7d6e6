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

// running says yes where it cannot be known.
func running(int) bool { return true }

func links(fs.FileInfo) uint64 { return 1 }
