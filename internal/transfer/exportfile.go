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

// save writes a file in one step, or to the stream that was asked for.
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

// destination is what a path leads to, as far as it is there: a link stays, and what it
// leads to is written.
func destination(path string) (file string, info fs.FileInfo, err error) {
	if path == "-" {
		return path, nil, nil
	}
	if info, err = os.Stat(path); err == nil {
		if file, err = filepath.EvalSymlinks(path); err != nil { // /dev/stdout leads to no path
			file = path
		}
		return file, info, nil
	}
	dir, name := filepath.Split(path)
	if in, err := os.Stat(cmp.Or(dir, ".")); err != nil || !in.IsDir() || name == "" {
		return "", nil, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q is in a directory that is not there", path)}
	}
	if _, err := os.Lstat(path); err == nil {
		return "", nil, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q is a link that leads nowhere", path)}
	}
	return path, nil, nil
}

// into writes to a pipe or a device. A file in its place would take it away from everybody
// else. To open a pipe waits for a reader.
func into(ctx context.Context, path string, to *sized, write func(io.Writer) error) error {
	f, err := create.Patiently(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
	if err != nil {
		return err
	}
	to.w = f
	return errors.Join(write(to), f.Close())
}

// replace writes beside a file and puts the whole in its place.
func replace(path string, to *sized, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".git-checkpoint-export-")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, underlying(err))
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone when all went well
	to.w = f
	err = write(to)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// underlying is an error without the name of a temporary file, which nobody has asked for.
func underlying(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

type sized struct {
	w io.Writer
	n int64
}

func (s *sized) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	return n, err
}
