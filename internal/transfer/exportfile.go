package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
)

// save writes the export to req.Path, or to req.Out if that is "-". An ordinary file is
// replaced in one step, so that a failed export leaves the old one. A pipe or device is
// written to directly.
func (p *parcel) save(ctx context.Context, req ExportRequest, format string, write func(io.Writer) error) (*Exported, error) {
	out := &Exported{File: req.Path, Format: format, Sessions: p.sessions, Checkpoints: p.count}
	to := &sized{w: req.Out}
	file, info, err := destination(req.Path)
	switch {
	case err != nil:
		return nil, err
	case req.Path == "-":
		err = write(to)
	case info != nil && info.IsDir():
		return nil, checkpoint.Usage("give the name of a file in it", "%q is a directory", req.Path)
	case info != nil && !info.Mode().IsRegular():
		err = into(ctx, file, to, write)
	default:
		err = replace(file, to, write)
	}
	out.Bytes = to.n
	return out, checkpoint.Classify(err)
}

// destination resolves a path. Symbolic links are followed, so that the target is written
// and the link stays. info is nil if there is no such file yet.
func destination(path string) (file string, info fs.FileInfo, err error) {
	if path == "-" {
		return path, nil, nil
	}
	if info, err = os.Stat(path); err == nil {
		// /dev/stdout may point to something that is not a path.
		if file, err = filepath.EvalSymlinks(path); err != nil {
			file = path
		}
		return file, info, nil
	}
	dir, name := filepath.Split(path)
	// A missing directory is an error here, before the work of the export is done.
	if in, err := os.Stat(cmp.Or(dir, ".")); err != nil || !in.IsDir() || name == "" {
		return "", nil, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q is in a directory that is not there", path)}
	}
	// Stat failed and Lstat does not: the link dangles.
	if _, err := os.Lstat(path); err == nil {
		return "", nil, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q is a link that leads nowhere", path)}
	}
	return path, nil, nil
}

// into writes to a pipe or a device. Replacing it by a file would break it for everybody
// else. Opening a pipe blocks until there is a reader, so it is done with the context in
// view.
func into(ctx context.Context, path string, to *sized, write func(io.Writer) error) error {
	f, err := create.Patiently(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
	if err != nil {
		return err
	}
	to.w = f
	return errors.Join(write(to), f.Close())
}

// replace writes to a temporary file in the same directory and renames it.
func replace(path string, to *sized, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".git-checkpoint-export-")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, underlying(err))
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone when all went well
	to.w = f
	err = write(to)
	if err == nil {
		// A temporary file has mode 0600, and an export is meant to be passed on.
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// underlying removes the path from an error, because it is a temporary name that means
// nothing to users.
func underlying(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// sized counts the bytes that are written.
type sized struct {
	w io.Writer
	n int64
}

func (s *sized) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}
