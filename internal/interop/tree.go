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
)

// Bounds of what is read: of one document, and of everything together.
const (
	maxDocument = 50 << 20
	maxTotal    = 1 << 30
	maxFiles    = 100_000
)

// tree is a project root, or a part of one: prefix is where its directory stands in the
// layout. Nothing outside is reachable through it, whatever links say.
type tree struct {
	root   *os.Root
	prefix string
	only   string // a path of the layout that everything has to be at or below

	files, bytes int64
}

// local turns a path of the layout into one of the directory; false when it is outside.
func (t *tree) local(p string) (string, bool) {
	switch {
	case t.prefix == "":
		return p, true
	case p == t.prefix:
		return ".", true
	}
	return strings.CutPrefix(p, t.prefix+"/")
}

// wanted reports whether a path is at or below what is asked for.
func (t *tree) wanted(p string) bool {
	return t.only == "" || p == t.only || strings.HasPrefix(p, t.only+"/")
}

// leads reports whether a directory is on the way to what is wanted, or below it.
func (t *tree) leads(dir string) bool {
	return t.wanted(dir) || strings.HasPrefix(t.only, dir+"/")
}

// list gives the names in a directory, sorted; none when it is not there.
func (t *tree) list(dir string) ([]fs.DirEntry, error) {
	at, inside := t.local(dir)
	if !inside {
		if rest, above := strings.CutPrefix(t.prefix, dir+"/"); above {
			name, _, _ := strings.Cut(rest, "/")
			return []fs.DirEntry{virtual(name)}, nil
		}
		return nil, nil
	}
	f, err := t.root.Open(at)
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", plain(err))
	}
	defer f.Close() //nolint:errcheck // only read
	entries, err := f.ReadDir(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		if info, statErr := f.Stat(); statErr == nil && !info.IsDir() {
			return nil, nil
		}
		return nil, fmt.Errorf("read directory: %w", plain(err))
	}
	if t.files += int64(len(entries)); t.files > maxFiles {
		return nil, fmt.Errorf("read directory: more than %d files", maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// read gives the content of a file. ErrNotExist is the only error that is no problem.
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
		return nil, errors.New("it is no regular file")
	case info.Size() > maxDocument:
		return nil, fmt.Errorf("it has %d bytes, and at most %d are read", info.Size(), maxDocument)
	}
	f, err := t.root.Open(at)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, plain(err)
	}
	if t.bytes += int64(len(data)); len(data) > maxDocument || t.bytes > maxTotal {
		return nil, fmt.Errorf("more than %d bytes", min(maxDocument, maxTotal))
	}
	return data, nil
}

// link is where a symbolic link leads; ok is false for anything else.
func (t *tree) link(p string) (to string, ok bool) {
	at, inside := t.local(p)
	if !inside {
		return "", false
	}
	to, err := t.root.Readlink(at)
	return to, err == nil
}

// real is the path in the file system of a regular file that no link leads to.
func (t *tree) real(p string) (string, error) {
	at, inside := t.local(p)
	if !inside {
		return "", fs.ErrNotExist
	}
	for part := at; ; part = path.Dir(part) {
		info, err := t.root.Lstat(part)
		switch {
		case err != nil:
			if errors.Is(err, fs.ErrNotExist) {
				return "", fs.ErrNotExist
			}
			return "", plain(err)
		case info.Mode()&fs.ModeSymlink != 0:
			return "", errors.New("a symbolic link leads there")
		case part == at && !info.Mode().IsRegular():
			return "", errors.New("it is no regular file")
		}
		if !strings.Contains(part, "/") {
			break
		}
	}
	return path.Join(t.root.Name(), at), nil
}

// plain takes the path out of an error: it is named beside it.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		if strings.Contains(at.Err.Error(), "escapes") {
			return errors.New("a symbolic link leads out of the directory")
		}
		return at.Err
	}
	return err
}

func isNotDirectory(err error) bool {
	return err != nil && strings.Contains(err.Error(), "not a directory")
}

// virtual is a directory that a prefix implies.
type virtual string

func (v virtual) Name() string               { return string(v) }
func (v virtual) IsDir() bool                { return true }
func (v virtual) Type() fs.FileMode          { return fs.ModeDir }
func (v virtual) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }
