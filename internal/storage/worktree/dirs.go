package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// RemoveDir removes an empty directory. It never removes a file that took its name.
func (w *Files) RemoveDir(dir string) error {
	info, err := w.Lstat(dir)
	if err != nil || info == nil || !info.IsDir() {
		return errors.Join(err, ErrNoDirectory)
	}
	w.Moved()
	return w.Rmdir(dir)
}

// ErrNoDirectory means that something else than a directory is there, or nothing.
var ErrNoDirectory = errors.New("not a directory")

// Existing returns those of paths, which are sorted, where something is. There may be a million
// files that a sparse checkout keeps off the disk, so it does not look for them in a directory that
// is not there either.
func (w *Files) Existing(paths []string) (out []string, err error) {
	missing, dir := "", "."
	for _, p := range paths {
		if missing != "" && strings.HasPrefix(p, missing) {
			continue
		}
		if d := path.Dir(p); d != dir {
			if missing, err = w.missing(d); err != nil {
				return nil, err
			}
			if dir = d; missing != "" {
				continue
			}
		}
		info, err := w.Lstat(p)
		if err != nil {
			return nil, fmt.Errorf("look at %q: %w", p, err)
		}
		if info != nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// missing returns the topmost of dir and the directories above it that does not exist, with a slash
// at its end, or "" if dir exists.
func (w *Files) missing(dir string) (string, error) {
	missing := ""
	for dir := range ParentsOf(dir + "/") {
		info, err := w.Lstat(dir)
		if err != nil {
			return "", fmt.Errorf("look at %q: %w", dir, err)
		}
		if info != nil && info.IsDir() {
			break
		}
		missing = dir + "/"
	}
	return missing, nil
}

// Spelling returns the path of what is at p as the directories list it. It is p itself, except on a
// disk that finds it under another spelling.
func (w *Files) Spelling(p string) string {
	if p == "." {
		return p
	}
	dir, name := w.Spelling(path.Dir(p)), path.Base(p)
	entries, err := w.ReadDir(dir)
	found := path.Join(dir, name)
	info, infoErr := w.Lstat(found)
	if err != nil || infoErr != nil || info == nil {
		return found
	}
	other := name
	for _, e := range entries {
		if e.Name() == name {
			return found
		}
		like := strings.EqualFold(e.Name(), name) // the inode says nothing then: some file systems number each spelling
		if is, err := w.Lstat(path.Join(dir, e.Name())); like || other == name && err == nil && is != nil && os.SameFile(is, info) {
			other = e.Name()
		}
	}
	return path.Join(dir, other)
}

// Denies reports whether p exists and cannot be read. The path of a directory ends in "/".
func (w *Files) Denies(p string) bool {
	if dir, ok := strings.CutSuffix(p, "/"); ok {
		_, err := w.ReadDir(dir)
		return errors.Is(err, fs.ErrPermission)
	}
	info, err := w.Lstat(p)
	return errors.Is(err, fs.ErrPermission) || info != nil && info.Mode().IsRegular() && !w.Readable(p)
}
