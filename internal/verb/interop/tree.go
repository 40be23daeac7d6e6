package interop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Limits of an import: bytes of one document, bytes of all documents together, and directory
// entries.
const (
	maxDocument = 50 << 20
	maxTotal    = 1 << 30
	maxFiles    = 100_000
)

// tree is the directory that an import reads. Paths given to its methods are paths in the layout,
// relative to the root of a project. If only a part of a layout is available, prefix is the path
// that the directory has in the layout. All access goes through os.Root, so no symbolic link can
// lead out of the directory.
type tree struct {
	root   *os.Root
	prefix string
	only   string // the path in the layout to which the import is restricted; "" for everything

	files, bytes int64 // files and bytes count what was read so far, for the limits
}

// local converts a path in the layout to one in the directory. ok is false if it is outside.
func (t *tree) local(p string) (string, bool) {
	switch {
	case t.prefix == "":
		return p, true
	case p == t.prefix:
		return ".", true
	}
	return strings.CutPrefix(p, t.prefix+"/")
}

// wanted reports whether a path is part of the import.
func (t *tree) wanted(p string) bool {
	return t.only == "" || p == t.only || strings.HasPrefix(p, t.only+"/")
}

// leads reports whether a directory is part of the import or contains a part of it.
func (t *tree) leads(dir string) bool { return t.wanted(dir) || strings.HasPrefix(t.only, dir+"/") }

// list returns the entries of a directory, sorted by name. A directory that does not exist, or is a
// file, is empty. Above the prefix it returns the one directory that leads there, so that a layout
// can walk down from the root as usual.
func (t *tree) list(dir string) ([]fs.DirEntry, error) {
	at, inside := t.local(dir)
	if !inside {
		if rest, above := strings.CutPrefix(t.prefix, dir+"/"); above {
			name, _, _ := strings.Cut(rest, "/")
			return []fs.DirEntry{virtual(name)}, nil
		}
		return nil, nil
	}
	var entries []fs.DirEntry
	f, err := t.root.Open(at)
	if err == nil {
		defer f.Close() //nolint:errcheck // only read
		// One more than the limit is enough to detect that there are too many.
		entries, err = f.ReadDir(maxFiles + 1)
	}
	switch {
	// A project has only some of the layouts, so missing directories are normal.
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read directory: %w", plain(err))
	}
	if t.files += int64(len(entries)); t.files > maxFiles {
		return nil, fmt.Errorf("read directory: more than %d files", maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// read returns the content of a file. The error is fs.ErrNotExist itself if there is no such file;
// any other error is a problem that the user should see.
func (t *tree) read(p string) ([]byte, error) {
	at, inside := t.local(p)
	if !inside {
		return nil, fs.ErrNotExist
	}
	info, err := t.root.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	switch {
	case err != nil:
		return nil, plain(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxDocument:
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", info.Size(), maxDocument)
	}
	f, err := t.root.Open(at)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close() //nolint:errcheck // only read
	// The file may have grown since Stat.
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, plain(err)
	}
	if t.bytes += int64(len(data)); len(data) > maxDocument || t.bytes > maxTotal {
		return nil, fmt.Errorf("more than %d bytes", min(maxDocument, maxTotal))
	}
	return data, nil
}

// link returns the target of a symbolic link. ok is false for anything else.
func (t *tree) link(p string) (to string, ok bool) {
	at, inside := t.local(p)
	if !inside {
		return "", false
	}
	to, err := t.root.Readlink(at)
	return to, err == nil
}

// real returns the path of a regular file in the file system, for SQLite, which does not read
// through os.Root. It refuses a path with a symbolic link in it.
func (t *tree) real(p string) (string, error) {
	at, inside := t.local(p)
	if !inside {
		return "", fs.ErrNotExist
	}
	names := strings.Split(at, "/")
	for i := range names { // from the top: a missing file must not hide a link on the way
		info, err := t.root.Lstat(path.Join(names[:i+1]...))
		switch {
		case err != nil:
			return "", plain(err)
		case info.Mode()&fs.ModeSymlink != 0:
			return "", errors.New("the path goes through a symbolic link")
		case i == len(names)-1 && !info.Mode().IsRegular():
			return "", errors.New("it is not a regular file")
		}
	}
	return path.Join(t.root.Name(), at), nil
}

// plain removes operation and path from an error, because messages name the path themselves.
// os.Root reports a link that leads out of it only by the text of the error.
func plain(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		if strings.Contains(at.Err.Error(), "escapes") {
			return errors.New("a symbolic link points out of the directory")
		}
		return at.Err
	}
	return err
}

// virtual is the entry of a directory that exists only as part of a prefix.
type virtual string

func (v virtual) Name() string               { return string(v) }
func (v virtual) IsDir() bool                { return true }
func (v virtual) Type() fs.FileMode          { return fs.ModeDir }
func (v virtual) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }
