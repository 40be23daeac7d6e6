package worktree

import (
	"io/fs"
	"os"
	"path"
)

// Held keeps a directory of the worktree open, for a loop over sorted paths: a directory with many
// of the paths is then opened and checked for links once, and not once for each. If another program
// renames that directory in the middle of the loop, the rest of the loop follows it. A Held is for
// one goroutine, which must close it. A nil *Held holds nothing.
type Held struct {
	tree  *Files
	dir   string   // of the last path
	tried bool     // to open dir, which is done at the second path in it
	gone  bool     // it was not there then
	file  *os.File // dir; nil if it is not open
	root  *os.Root // the same directory, for lstat
}

// Hold returns a Held without a directory.
func (w *Files) Hold() *Held { return &Held{tree: w} }

// Close closes the directory, and forgets what was found out about it.
func (h *Held) Close() {
	if h == nil {
		return
	}
	if h.file != nil {
		h.file.Close() //nolint:errcheck // only a directory handle
		h.root.Close() //nolint:errcheck // only a directory handle
	}
	*h = Held{tree: h.tree}
}

// has returns dir if it is open, else nil.
func (h *Held) has(dir string) *os.File {
	switch {
	case h == nil:
		return nil
	case dir != h.dir:
		h.Close()
		h.dir = dir
	case !h.tried && dir != ".":
		h.tried = true
		h.open()
	}
	return h.file
}

// open opens dir twice: without following links, and as an os.Root, which follows those that stay in
// the worktree. Only if both are the same directory, no link is on the way.
func (h *Held) open() {
	file, err := h.tree.OpenDir(h.dir)
	if err != nil {
		h.gone = Absent(err)
		return
	}
	root, err := h.tree.Root.OpenRoot(h.dir)
	if err != nil {
		file.Close() //nolint:errcheck // only a directory handle
		return
	}
	a, err := file.Stat()
	b, err2 := root.Stat(".")
	h.file, h.root = file, root
	if err != nil || err2 != nil || !os.SameFile(a, b) {
		h.Close()
	}
}

// Lstat is lstat of the worktree.
func (h *Held) Lstat(p string) (fs.FileInfo, error) {
	switch {
	case h.has(path.Dir(p)) != nil:
		info, err := h.root.Lstat(path.Base(p))
		if Absent(err) {
			return nil, nil
		}
		return info, err
	case h.gone:
		return nil, nil
	}
	return h.tree.Lstat(p)
}
