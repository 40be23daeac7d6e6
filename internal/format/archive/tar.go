package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// BundleMember is the member of a tar that holds the bundle. An import reads nothing else of it: the
// other members are for people.
const BundleMember = "checkpoints.bundle"

// maxRatio is how many bytes may come out of a compressed file for each byte that goes in, after the
// first freeBytes. Real exports stay far below it, since a bundle is compressed already.
const (
	maxRatio  = 200
	freeBytes = 64 << 20
)

// Writer writes a tar. Its bytes depend only on the members: it has no owner and no current
// time.
type Writer struct{ tar *tar.Writer }

// NewWriter returns a Writer to w. Close has to be called at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{tar.NewWriter(w)} }

// File adds a file. PAX is needed for long names and sizes.
func (w *Writer) File(member string, mode fs.FileMode, at time.Time, content []byte) error {
	err := w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: member, Mode: int64(mode.Perm()), Size: int64(len(content)), ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	_, err = w.tar.Write(content)
	return err
}

// Close writes the end of the tar. It does not close the underlying writer.
func (w *Writer) Close() error { return w.tar.Close() }

// Decompress returns a reader of the uncompressed content, whether the file is gzipped or
// not. Reading fails if the content is out of proportion to the file.
func Decompress(r *bufio.Reader) (*bufio.Reader, error) {
	magic, err := r.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return r, nil //nolint:nilerr // a file of one byte is not compressed
	}
	in := &counted{r: r}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return bufio.NewReader(&guarded{from: z, in: in}), nil
}

// counted counts the compressed bytes that were read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// guarded fails when a compressed file expands beyond maxRatio.
type guarded struct {
	from io.Reader
	in   *counted
	out  int64
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	g.out += int64(n)
	if g.out > freeBytes && g.out > g.in.n*maxRatio {
		return 0, fmt.Errorf("decompress: %d bytes expand to more than %d, like a decompression bomb", g.in.n, g.out)
	}
	return n, err
}

// IsTar reports whether a file that starts with these bytes is a tar, by the magic at
// offset 257.
func IsTar(beginning []byte) bool {
	return len(beginning) >= 262 && string(beginning[257:262]) == "ustar"
}

// IsExport reports whether what r reads, uncompressed, begins like an export in one of our formats.
// It is stricter than IsTar and IsLines, because the caller overwrites the file.
func IsExport(r *bufio.Reader) bool {
	begins, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	switch {
	case IsBundle(begins):
		_, err := ReadHeader(r)
		return err == nil
	case IsTar(begins):
		first, err := tar.NewReader(r).Next()
		return err == nil && first.Name == BundleMember
	}
	return bytes.HasPrefix(begins, []byte(`{"type":"session","session":`)) || bytes.HasPrefix(begins, []byte(`{"type":"bundle","data":`))
}

// BundleInTar copies the bundle inside a tar to w. It reads the tar to its end, so that a file that was
// cut off is refused, and fails if there is no bundle or more than one.
func BundleInTar(r *bufio.Reader, w io.Writer) error {
	found, end := false, &ending{from: r}
	for t := tar.NewReader(end); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return fmt.Errorf("the tar does not contain %s", BundleMember)
		case errors.Is(err, io.EOF):
			return end.check()
		case err != nil:
			return fmt.Errorf("read tar: %w", err)
		case h.Name != BundleMember:
			continue
		case found:
			return fmt.Errorf("the tar contains %s twice", BundleMember)
		}
		found = true
		if _, err := io.Copy(w, t); err != nil {
			return fmt.Errorf("read tar: %w", err)
		}
	}
}

// endOfTar is the number of zero bytes at the end of every tar. Go's reader accepts a file
// that ends without them, so a file that was cut off between two members would pass for a
// whole one.
const endOfTar = 1024

// ending counts the zero bytes at the end of what was read.
type ending struct {
	from  io.Reader
	zeros int64
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if rest := bytes.TrimRight(p[:n], "\x00"); len(rest) > 0 {
		e.zeros = int64(n - len(rest))
	} else {
		e.zeros += int64(n)
	}
	return n, err
}

// check reads what follows the last member, which makes gzip compare its checksum, and
// verifies that the tar ends as it has to.
func (e *ending) check() error {
	if _, err := io.Copy(io.Discard, e); err != nil {
		return fmt.Errorf("read tar: %w", err)
	}
	if e.zeros < endOfTar {
		return errors.New("the tar is cut off: its end is missing")
	}
	return nil
}
