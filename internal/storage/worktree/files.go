// Package worktree reads and moves the files of a worktree. It follows no symbolic link on the way
// to a file, and reaches paths that are longer than the system accepts. It has nothing to do with
// captures and restores.
package worktree

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// StagingPrefix begins the name of a staging directory at the top of the worktree. Staging
// happens there only if the git directory is on another file system, because files can be renamed
// into place only within one file system. A capture never takes such a directory.
const StagingPrefix = ".git-checkpoint-staging-"

// LargeFile is the size in bytes from which git streams content, so that it is not held in
// memory.
const LargeFile = 4 << 20

// ErrNoSwap says that the system cannot exchange two names, and cannot rename only if the new
// name is free.
var ErrNoSwap = errors.New("this file system cannot exchange two names")

// Files gives access to the files below the top of a worktree. Paths are relative, with
// slashes.
//
// It never follows a symbolic link on the way to a file. A tracked directory may have been
// replaced by a link to somewhere else, and a restore must not write through it. It also reaches
// paths that are longer than PATH_MAX. On Linux one openat2 call does both (reach_linux.go);
// where that is not possible, the path is checked one component at a time (realDir).
type Files struct {
	Root *os.Root
	dir  *os.File // the top, for openat2
	Top  string
	Own  *git.OwnDirs
	Near *Held // the directory that a restore is moving files in; nil if none is

	mu   sync.Mutex
	real map[string]bool // directories known not to be links; cleared when something is moved
	gits map[string]bool // what InGit found out about directories; cleared at the same time
}

// Open opens the directory top, which is absolute. own are the git directories that may be
// below it. The caller must close the result.
func Open(top string, own *git.OwnDirs) (*Files, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("%w: open the worktree: %w", git.ErrUnusable, err)
	}
	dir, err := root.Open(".")
	if err != nil {
		root.Close() //nolint:errcheck // only a directory handle
		return nil, fmt.Errorf("open the worktree: %w", err)
	}
	return &Files{Root: root, dir: dir, Top: top, Own: own, real: map[string]bool{}, gits: map[string]bool{}}, nil
}

// Close gives back the handles. The files are not read any more after it.
func (w *Files) Close() {
	w.dir.Close()  //nolint:errcheck // only a directory handle
	w.Root.Close() //nolint:errcheck // only a directory handle
}

// Lstat returns information about p without following a link. It returns nil and no error if
// nothing is at p, including the case that a parent of p is a file or a symbolic link.
func (w *Files) Lstat(p string) (fs.FileInfo, error) {
	if info, err := w.fastLstat(p); Absent(err) {
		return nil, nil
	} else if !errors.Is(err, errSlow) {
		return info, err
	}
	if ok, err := w.realDir(path.Dir(p)); !ok || err != nil {
		return nil, err
	}
	info, err := w.Root.Lstat(p)
	if Absent(err) {
		return nil, nil
	}
	return info, err
}

// realDir reports whether dir and every directory above it are real directories. A path behind a
// symbolic link is not part of the worktree, and git does not look there either. It looks from the top,
// because nothing is below what is missing: somebody's tree may have thousands of levels.
func (w *Files) realDir(dir string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := 0; end < len(dir) && dir != "." && !w.real[dir]; end++ {
		end += strings.IndexByte(dir[end:]+"/", '/')
		if w.real[dir[:end]] {
			continue
		}
		info, err := w.Root.Lstat(dir[:end])
		if Absent(err) || err == nil && !info.IsDir() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		w.real[dir[:end]] = true
	}
	return true, nil
}

// Moved forgets which directories are real. It is called when something is about to be renamed or
// removed, because a link may then take the place of a directory.
func (w *Files) Moved() {
	w.mu.Lock()
	clear(w.real)
	clear(w.gits)
	w.mu.Unlock()
}

// IsGit reports whether a directory is the git directory or the common directory of this repository.
// The .git at the top of an ordinary one is left out by its name.
func (w *Files) IsGit(dir string) bool {
	if w.Own == nil {
		return false
	}
	info, err := w.Lstat(dir)
	return err == nil && w.Own.Has(info)
}

// InGit reports whether a directory is one of these or lies in one.
func (w *Files) InGit(dir string) bool {
	if w.Own == nil || dir == "." {
		return false
	}
	w.mu.Lock()
	in, known := w.gits[dir]
	w.mu.Unlock()
	if !known {
		in = w.InGit(path.Dir(dir)) || w.IsGit(dir)
		w.mu.Lock()
		w.gits[dir] = in
		w.mu.Unlock()
	}
	return in
}

// WithoutGit removes what lies in the git directory from paths. A directory may end in a slash.
func (w *Files) WithoutGit(paths []string) []string {
	if w.Own == nil {
		return paths
	}
	return slices.DeleteFunc(paths, func(p string) bool { return w.InGit(path.Dir(strings.TrimSuffix(p, "/"))) })
}

// NestedAt reports whether a directory is the top of another repository, or may be.
func (w *Files) NestedAt(dir string) (bool, error) {
	info, err := w.Lstat(path.Join(dir, ".git"))
	return info != nil && !w.Own.Has(info), err
}

// Absent reports whether err says that nothing is at a path: no disk has a longer name, and a parent of the
// path may be a file or a link.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ELOOP)
}

// Open opens something for reading that lstat has just found to be a file.
func (w *Files) Open(p string) (*os.File, error) { return w.open(p, os.O_RDONLY) }

func (w *Files) open(p string, flags int) (*os.File, error) {
	f, err := w.reach(p, uint64(flags|openNoFollow))
	if errors.Is(err, errSlow) {
		return w.Root.OpenFile(p, flags|openNoFollow, 0)
	}
	return f, err
}

// Read returns the content of a file, or the target of a symbolic link, as git would hash it. before
// is what lstat returned for p. after is the same once it was read, or nil if it is gone.
func (w *Files) Read(p string, before fs.FileInfo) (data []byte, after fs.FileInfo, err error) {
	if before.Mode()&fs.ModeSymlink != 0 {
		target, err := w.Root.Readlink(p)
		if err == nil {
			after, err = w.Lstat(p)
		}
		return []byte(target), after, err
	}
	f, err := w.Open(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	content := bytes.NewBuffer(make([]byte, 0, before.Size()+bytes.MinRead))
	if _, err := content.ReadFrom(f); err != nil {
		return nil, nil, err
	}
	after, err = f.Stat()
	return content.Bytes(), after, err
}

// ReadStable has read look at a file that another program may be writing to. It is called again,
// three times at most, until size and times are the same before and after. If the file keeps
// changing, the last version that could be read is used. The info is nil if nothing is at p, and
// that of a directory if there is one; what read has found is then of no use.
func (w *Files) ReadStable(p string, read func(before fs.FileInfo) (after fs.FileInfo, err error)) (info fs.FileInfo, err error) {
	for range 3 {
		if info, err = w.Lstat(p); err != nil || info == nil || info.IsDir() {
			return info, err
		}
		var after fs.FileInfo
		if after, err = read(info); err == nil && after != nil && Same(info, after) {
			return info, nil
		}
	}
	if Absent(err) {
		return nil, nil
	}
	return info, err
}

// ReadWhole reads a file as ReadStable does. data is nil if there is no file.
func (w *Files) ReadWhole(p string) (data []byte, info fs.FileInfo, err error) {
	info, err = w.ReadStable(p, func(before fs.FileInfo) (after fs.FileInfo, err error) {
		data, after, err = w.Read(p, before)
		return after, err
	})
	if info == nil || info.IsDir() {
		data = nil
	}
	return data, info, err
}

// HashWhole returns the blob id of a file's content, or of a link's target, as ReadStable reads it. A
// large file is streamed, so that it is not held in memory.
func (w *Files) HashWhole(format, p string) (oid name.OID, info fs.FileInfo, err error) {
	info, err = w.ReadStable(p, func(before fs.FileInfo) (fs.FileInfo, error) {
		if before.Size() < LargeFile || !before.Mode().IsRegular() {
			data, after, err := w.Read(p, before)
			oid = git.HashObject(format, "blob", data)
			return after, err
		}
		f, err := w.Open(p)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // read only
		if oid, err = git.HashBlob(format, before.Size(), f); err != nil {
			return nil, err
		}
		return f.Stat()
	})
	return oid, info, err
}

// Same reports whether two results of lstat describe the same version of a file. The ctime is
// compared too, since a program can set the mtime back but not the ctime.
func Same(a, b fs.FileInfo) bool {
	return SameContent(a, b) && a.Mode() == b.Mode() && ChangeTime(a).Equal(ChangeTime(b))
}

// SameContent reports whether a file was not written to. It may have been renamed or have other
// permissions, as those do not change the mtime.
func SameContent(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Readable reports whether a regular file can be opened for reading.
func (w *Files) Readable(p string) bool {
	_, readable := w.Head(p, 0)
	return readable
}

// ModeOf returns the mode that git gives a file. Like git, it looks only at the owner's
// executable bit.
func ModeOf(info fs.FileInfo) git.Mode {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return git.ModeSymlink
	case info.Mode().Perm()&0o100 != 0:
		return git.ModeExec
	}
	return git.ModeFile
}

// OpenDir opens a directory for reading. It fails if dir is a symbolic link or is reached through one.
func (w *Files) OpenDir(dir string) (*os.File, error) {
	f, err := w.enter(dir)
	if !errors.Is(err, errSlow) {
		return f, err
	}
	ok, err := w.realDir(dir)
	if err == nil && !ok {
		err = &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return w.Root.OpenFile(dir, os.O_RDONLY|openNoFollow, 0)
}

// ReadDir lists a directory, as OpenDir opens it. The entries have their types, but Info must not
// be called.
func (w *Files) ReadDir(dir string) ([]fs.DirEntry, error) {
	f, err := w.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return f.ReadDir(-1)
}

// ParentsOf yields the directories above p below the top, the nearest first. A p that ends in a slash is the
// first of them.
func ParentsOf(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := strings.LastIndexByte(p, '/'); at > 0 && yield(p[:at]); at = strings.LastIndexByte(p[:at], '/') {
		}
	}
}

// AddAbove adds the directories above paths to dirs, the top (".") included.
func AddAbove(dirs map[string]bool, paths ...string) {
	for _, p := range paths {
		for d := path.Dir(p); !dirs[d]; d = path.Dir(d) {
			dirs[d] = true
		}
	}
}

// Abs returns p as an absolute path. It may be longer than the system accepts.
func (w *Files) Abs(p string) string { return filepath.Join(w.Top, filepath.FromSlash(p)) }

// IsStaging reports whether name is that of a staging directory made by this program: the prefix
// and twelve hexadecimal digits. Other names with the prefix belong to the user.
func IsStaging(name string) bool {
	random, ours := strings.CutPrefix(name, StagingPrefix)
	return ours && len(random) == len(RandomHex()) && strings.Trim(random, "0123456789abcdef") == ""
}

// RandomHex returns twelve hexadecimal digits. IsStaging relies on that length.
func RandomHex() string {
	var b [6]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return hex.EncodeToString(b[:])
}

// InStaging reports whether p is a staging directory or lies in one.
func InStaging(p string) bool {
	return strings.Contains(p, StagingPrefix) && slices.ContainsFunc(strings.Split(p, "/"), IsStaging)
}
