package snapshot

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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

// stagingPrefix begins the name of a staging directory at the top of the worktree. Staging
// happens there only if the git directory is on another file system, because files can be renamed
// into place only within one file system. A capture never takes such a directory.
const stagingPrefix = ".git-checkpoint-staging-"

// largeFile is the size in bytes from which git streams content, so that it is not held in
// memory.
const largeFile = 4 << 20

// errNoSwap says that the system cannot exchange two names, and cannot rename only if the new
// name is free.
var errNoSwap = errors.New("this file system cannot exchange two names")

// workFiles gives access to the files below the top of a worktree. Paths are relative, with
// slashes.
//
// It never follows a symbolic link on the way to a file. A tracked directory may have been
// replaced by a link to somewhere else, and a restore must not write through it. It also reaches
// paths that are longer than PATH_MAX. On Linux one openat2 call does both (reach_linux.go);
// where that is not possible, the path is checked one component at a time (realDir).
type workFiles struct {
	root *os.Root
	dir  *os.File // the top, for openat2
	top  string
	own  *git.OwnDirs
	near *held // the directory that a restore is moving files in; nil if none is

	mu   sync.Mutex
	real map[string]bool // directories known not to be links; cleared when something is moved
	gits map[string]bool // what inGit found out about directories; cleared at the same time
}

// openWorkFiles opens the directory top, which is absolute. own are the git directories that may be
// below it. The caller must close the result.
func openWorkFiles(top string, own *git.OwnDirs) (*workFiles, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("%w: open the worktree: %w", git.ErrUnusable, err)
	}
	dir, err := root.Open(".")
	if err != nil {
		root.Close() //nolint:errcheck // only a directory handle
		return nil, fmt.Errorf("open the worktree: %w", err)
	}
	return &workFiles{root: root, dir: dir, top: top, own: own, real: map[string]bool{}, gits: map[string]bool{}}, nil
}

func (w *workFiles) close() {
	w.dir.Close()  //nolint:errcheck // only a directory handle
	w.root.Close() //nolint:errcheck // only a directory handle
}

// lstat returns information about p without following a link. It returns nil and no error if
// nothing is at p, including the case that a parent of p is a file or a symbolic link.
func (w *workFiles) lstat(p string) (fs.FileInfo, error) {
	if info, err := w.fastLstat(p); absent(err) {
		return nil, nil
	} else if !errors.Is(err, errSlow) {
		return info, err
	}
	if ok, err := w.realDir(path.Dir(p)); !ok || err != nil {
		return nil, err
	}
	info, err := w.root.Lstat(p)
	if absent(err) {
		return nil, nil
	}
	return info, err
}

// realDir reports whether dir and every directory above it are real directories. A path behind a
// symbolic link is not part of the worktree, and git does not look there either.
func (w *workFiles) realDir(dir string) (bool, error) {
	if dir == "." {
		return true, nil
	}
	w.mu.Lock()
	known := w.real[dir]
	w.mu.Unlock()
	if known {
		return true, nil
	}
	if ok, err := w.realDir(path.Dir(dir)); !ok || err != nil {
		return false, err
	}
	info, err := w.root.Lstat(dir)
	if absent(err) || err == nil && !info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	w.real[dir] = true
	w.mu.Unlock()
	return true, nil
}

// moved forgets which directories are real. It is called when something is about to be renamed or
// removed, because a link may then take the place of a directory.
func (w *workFiles) moved() {
	w.mu.Lock()
	clear(w.real)
	clear(w.gits)
	w.mu.Unlock()
}

// isGit reports whether a directory is the git directory or the common directory of this repository.
// The .git at the top of an ordinary one is left out by its name.
func (w *workFiles) isGit(dir string) bool {
	if w.own == nil {
		return false
	}
	info, err := w.lstat(dir)
	return err == nil && w.own.Has(info)
}

// inGit reports whether a directory is one of these or lies in one.
func (w *workFiles) inGit(dir string) bool {
	if w.own == nil || dir == "." {
		return false
	}
	w.mu.Lock()
	in, known := w.gits[dir]
	w.mu.Unlock()
	if !known {
		in = w.inGit(path.Dir(dir)) || w.isGit(dir)
		w.mu.Lock()
		w.gits[dir] = in
		w.mu.Unlock()
	}
	return in
}

// withoutGit removes what lies in the git directory from paths. A directory may end in a slash.
func (w *workFiles) withoutGit(paths []string) []string {
	if w.own == nil {
		return paths
	}
	return slices.DeleteFunc(paths, func(p string) bool { return w.inGit(path.Dir(strings.TrimSuffix(p, "/"))) })
}

// nestedAt reports whether a directory is the top of another repository, or may be.
func (w *workFiles) nestedAt(dir string) (bool, error) {
	info, err := w.lstat(path.Join(dir, ".git"))
	return info != nil && !w.own.Has(info), err
}

// absent reports whether err says that nothing is at a path. ENOTDIR means that a parent of the
// path is a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// open opens something for reading that lstat has just found to be a file.
func (w *workFiles) open(p string) (*os.File, error) {
	f, err := w.reach(p, openNoFollow)
	if errors.Is(err, errSlow) {
		return w.root.OpenFile(p, os.O_RDONLY|openNoFollow, 0)
	}
	return f, err
}

// read returns the content of a file, or the target of a symbolic link, as git would hash it. before
// is what lstat returned for p. after is the same once it was read, or nil if it is gone.
func (w *workFiles) read(p string, before fs.FileInfo) (data []byte, after fs.FileInfo, err error) {
	if before.Mode()&fs.ModeSymlink != 0 {
		target, err := w.root.Readlink(p)
		if err == nil {
			after, err = w.lstat(p)
		}
		return []byte(target), after, err
	}
	f, err := w.open(p)
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

// readStable has read look at a file that another program may be writing to. It is called again, three
// times at most, until size and times are the same before and after. If the file never holds still,
// the last version that could be read counts. The info is nil if nothing is at p, and that of a
// directory if there is one; what read has found is then of no use.
func (w *workFiles) readStable(p string, read func(before fs.FileInfo) (after fs.FileInfo, err error)) (info fs.FileInfo, err error) {
	for range 3 {
		if info, err = w.lstat(p); err != nil || info == nil || info.IsDir() {
			return info, err
		}
		var after fs.FileInfo
		if after, err = read(info); err == nil && after != nil && same(info, after) {
			return info, nil
		}
	}
	if absent(err) {
		return nil, nil
	}
	return info, err
}

// readWhole reads a file as readStable does. data is nil if there is no file.
func (w *workFiles) readWhole(p string) (data []byte, info fs.FileInfo, err error) {
	info, err = w.readStable(p, func(before fs.FileInfo) (after fs.FileInfo, err error) {
		data, after, err = w.read(p, before)
		return after, err
	})
	if info == nil || info.IsDir() {
		data = nil
	}
	return data, info, err
}

// hashWhole returns the blob id of a file's content, or of a link's target, as readStable reads it. A
// large file is streamed, so that it is not held in memory.
func (w *workFiles) hashWhole(format, p string) (oid name.OID, info fs.FileInfo, err error) {
	info, err = w.readStable(p, func(before fs.FileInfo) (fs.FileInfo, error) {
		if before.Size() < largeFile || !before.Mode().IsRegular() {
			data, after, err := w.read(p, before)
			oid = git.HashObject(format, "blob", data)
			return after, err
		}
		f, err := w.open(p)
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

// same reports whether two results of lstat describe the same version of a file. The ctime is
// compared too, since a program can set the mtime back but not the ctime.
func same(a, b fs.FileInfo) bool {
	return sameContent(a, b) && a.Mode() == b.Mode() && changeTime(a).Equal(changeTime(b))
}

// sameContent reports whether a file was not written to. It may have been renamed or have other
// permissions, as those do not change the mtime.
func sameContent(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// readable reports whether a regular file can be opened for reading.
func (w *workFiles) readable(p string) bool {
	f, err := w.open(p)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// modeOf returns the mode that git gives a file. Like git, it looks only at the owner's
// executable bit.
func modeOf(info fs.FileInfo) git.Mode {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return git.ModeSymlink
	case info.Mode().Perm()&0o100 != 0:
		return git.ModeExec
	}
	return git.ModeFile
}

// openDir opens a directory for reading. It fails if dir is a symbolic link or is reached through one.
func (w *workFiles) openDir(dir string) (*os.File, error) {
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
	return w.root.OpenFile(dir, os.O_RDONLY|openNoFollow, 0)
}

// readDir lists a directory, as openDir opens it. The entries know their types, but Info must not be
// called.
func (w *workFiles) readDir(dir string) ([]fs.DirEntry, error) {
	f, err := w.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return f.ReadDir(-1)
}

// addAbove adds the directories above p to dirs, the top (".") included.
func addAbove(dirs map[string]bool, p string) {
	for d := path.Dir(p); !dirs[d]; d = path.Dir(d) {
		dirs[d] = true
	}
}

// abs returns p as an absolute path. It may be longer than the system accepts.
func (w *workFiles) abs(p string) string { return filepath.Join(w.top, filepath.FromSlash(p)) }

// IsStaging reports whether name is that of a staging directory made by this program: the prefix
// and twelve hexadecimal digits. Other names with the prefix belong to the user.
func IsStaging(name string) bool {
	random, ours := strings.CutPrefix(name, stagingPrefix)
	return ours && len(random) == len(randomHex()) && strings.Trim(random, "0123456789abcdef") == ""
}

// randomHex returns twelve hexadecimal digits. IsStaging relies on that length.
func randomHex() string {
	var b [6]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return hex.EncodeToString(b[:])
}

// inStaging reports whether p is a staging directory or lies in one.
func inStaging(p string) bool {
	return strings.Contains(p, stagingPrefix) && slices.ContainsFunc(strings.Split(p, "/"), IsStaging)
}
