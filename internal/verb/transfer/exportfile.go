package transfer

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/wholefile"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/travel"
)

// Destination is where an export goes.
type Destination struct {
	// The file to write; "-": write to Out.
	Path    string
	Out     io.Writer
	Force   bool // replace a file even if it is not an earlier export
	Private bool // only the owner may read the file, because it holds something private
}

// save writes the export to its destination.
func (p *exportBundle) save(ctx context.Context, req ExportRequest, format string, write func(io.Writer) error) (*Exported, error) {
	out := &Exported{File: req.Path, Format: format, Sessions: p.sessions, Checkpoints: p.count, Needs: p.elsewhere}
	var err error
	req.Private = p.private
	out.Bytes, err = req.Write(ctx, archive.IsExport, write)
	if err == nil && len(out.Needs) > 0 {
		p.s.Store.Warn("this clone is shallow: only clones that have commit " + strings.Join(name.All[string](out.Needs), " and ") + " can import the file")
	}
	return out, err
}

// Write writes an export and returns its size. An ordinary file is replaced in one step, so that a
// failed export leaves the old one; without Force it is replaced only if it is empty or ours says
// that it is an earlier export. A pipe or device is written to directly. The content is compressed
// if the name of the file says so.
func (d Destination) Write(ctx context.Context, ours func(*bufio.Reader) bool, write func(io.Writer) error) (int64, error) {
	n, err := d.write(ctx, ours, write)
	if said := (*checkpoint.Error)(nil); errors.Is(err, fs.ErrPermission) && !errors.As(err, &said) {
		err = &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err, Hints: []string{"write it elsewhere"}}
	}
	return n, err
}

func (d Destination) write(ctx context.Context, ours func(*bufio.Reader) bool, write func(io.Writer) error) (int64, error) {
	to := &sized{w: d.Out}
	if strings.HasSuffix(d.Path, ".gz") || strings.HasSuffix(d.Path, ".tgz") {
		plain := write
		write = func(w io.Writer) error {
			z := gzip.NewWriter(w)
			return errors.Join(plain(z), z.Close())
		}
	}
	if err := d.Check(ours); err != nil {
		return 0, err
	}
	file, info, err := destination(d.Path)
	switch {
	case err != nil:
		return 0, err
	case d.Path == "-":
		err = write(to)
	case info != nil && !info.Mode().IsRegular():
		err = writeInto(ctx, file, to, write)
	default:
		perm := fs.FileMode(0o666)
		if d.Private {
			perm = 0o600
			if info != nil { // the permissions of the old file stay
				err = os.Chmod(file, info.Mode().Perm()&perm)
			}
		}
		if err != nil {
			break
		}
		err = wholefile.Write(file, perm, func(w io.Writer) error {
			to.w = w
			return write(to)
		})
	}
	return to.n, err
}

// Check refuses a destination that must not be written to, as Write does.
func (d Destination) Check(ours func(*bufio.Reader) bool) error {
	file, info, err := destination(d.Path)
	switch {
	case err != nil || info == nil:
	case info.IsDir():
		err = checkpoint.Usage("name a file in it", "%q is a directory", d.Path)
	case info.Mode().IsRegular() && info.Size() > 0 && !d.Force && !holds(file, ours):
		err = checkpoint.Failure(checkpoint.KindRefused, "nothing was written; --force replaces it", "%q already exists and is no earlier export", d.Path)
	}
	return err
}

// holds reports whether a file, compressed or not, has what is looked for. It is false if the file
// cannot be read.
func holds(file string, what func(*bufio.Reader) bool) (found bool) {
	err := reading(file, func(r *bufio.Reader) error {
		found = what(r)
		return nil
	})
	return found && err == nil
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
		return "", nil, checkpoint.Failure(checkpoint.KindFailed, "", "%q is in a directory that does not exist", path)
	}
	// Stat failed and Lstat does not: the link dangles.
	if _, err := os.Lstat(path); err == nil {
		return "", nil, checkpoint.Failure(checkpoint.KindFailed, "", "%q is a broken symbolic link", path)
	}
	return path, nil, nil
}

// writeInto writes to a pipe or a device. Replacing it by a file would break it for everybody else.
// Opening a pipe blocks until there is a reader, so it ends early when the context is cancelled.
func writeInto(ctx context.Context, path string, to *sized, write func(io.Writer) error) error {
	f, err := create.Patiently(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
	if err != nil {
		return err
	}
	to.w = f
	return errors.Join(write(to), f.Close())
}

// sized counts the bytes that are written, and remembers why the first write failed. Without it the
// reason is lost: git ends by SIGPIPE when nobody reads on, and only that is reported.
type sized struct {
	w   io.Writer
	n   int64
	err error
}

func (s *sized) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n, s.err = s.n+int64(n), cmp.Or(s.err, err)
	return n, err
}

// Load imports a file of a format that FormatOf has recognised: a bundle, or the bundle inside a
// tar or JSON lines file, gzipped or not. It reads nothing else of these.
func Load(ctx context.Context, s *checkpoint.Service, file, format string) (*travel.Answer, error) {
	take := archive.BundleInLines
	switch format {
	case "bundle":
		return travel.ImportBundle(ctx, s, file)
	case "tar":
		take = archive.BundleInTar
	}
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil, err
	}
	// The bundle is copied to a file because git has to be able to read it again after a
	// gc.
	bundle, err := os.CreateTemp(dir, store.TempPrefix+"bundle-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(bundle.Name()) //nolint:errcheck // swept later
	err = reading(file, func(r *bufio.Reader) error { return take(r, bundle) })
	if closed := bundle.Close(); closed != nil {
		return nil, errors.Join(err, closed)
	}
	if err != nil {
		return nil, err
	}
	found, err := travel.ImportBundle(ctx, s, bundle.Name())
	// The report names the file that the user gave and not the temporary one.
	if found != nil {
		found.Remote = file
		for i := range found.Lines {
			found.Lines[i].Remote = file
		}
	}
	return found, err
}

// reading opens a file, uncompresses it and calls read. Any error refuses the file as a
// whole.
func reading(file string, read func(*bufio.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := archive.Decompress(bufio.NewReader(f))
	if err == nil {
		err = read(r)
	}
	if err != nil {
		return travel.Invalid(err)
	}
	return nil
}

// FormatOf returns the format of a file, compressed or not: "bundle", "tar", "jsonl", or "" if it
// is not one of ours.
func FormatOf(file string) (format string, err error) {
	err = reading(file, func(r *bufio.Reader) error {
		beginning, err := r.Peek(512)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case archive.IsBundle(beginning):
			format = "bundle"
		case archive.IsTar(beginning):
			format = "tar"
		case archive.IsLines(beginning):
			format = "jsonl"
		}
		return nil
	})
	return format, err
}
