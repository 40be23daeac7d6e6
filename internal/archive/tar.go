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
	"path"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// BundleMember is the file of a tar that holds everything; the others are for people.
const BundleMember = "checkpoints.bundle"

// Bounds of a tar that is read.
const (
	maxMembers = 1 << 22
	maxSize    = 1 << 40
	// maxRatio is how much more may come out of a compressed file than goes in, beyond
	// the first 64 MiB: a bundle is compressed already.
	maxRatio  = 200
	freeBytes = 64 << 20
)

// Writer writes a tar whose bytes depend on its members alone.
type Writer struct {
	tar  *tar.Writer
	gzip *gzip.Writer
}

// NewWriter begins a tar, compressed or not.
func NewWriter(w io.Writer, compressed Compression) *Writer {
	out := &Writer{}
	if compressed == Gzip {
		out.gzip = gzip.NewWriter(w)
		w = out.gzip
	}
	out.tar = tar.NewWriter(w)
	return out
}

// Compression of a file.
type Compression int

// The compressions.
const (
	Plain Compression = iota
	Gzip
)

// File adds a file.
func (w *Writer) File(member string, mode fs.FileMode, at time.Time, content []byte) error {
	if err := w.begin(member, mode, at, int64(len(content))); err != nil {
		return err
	}
	_, err := w.tar.Write(content)
	return err
}

// Stream adds a file of a known size.
func (w *Writer) Stream(member string, at time.Time, size int64, content io.Reader) error {
	if err := w.begin(member, 0o644, at, size); err != nil {
		return err
	}
	_, err := io.Copy(w.tar, content)
	return err
}

func (w *Writer) begin(member string, mode fs.FileMode, at time.Time, size int64) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: member, Mode: int64(mode.Perm()), Size: size, ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatPAX,
	})
}

// Close ends the file.
func (w *Writer) Close() error {
	err := w.tar.Close()
	if w.gzip != nil {
		err = errors.Join(err, w.gzip.Close())
	}
	return err
}

// Decompress gives what a file holds, whether it is compressed or not. What blows up
// ends in an error.
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

type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// guarded refuses to give out more than could be meant.
type guarded struct {
	from io.Reader
	in   *counted
	out  int64
}

func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	g.out += int64(n)
	if g.out > freeBytes && g.out > g.in.n*maxRatio {
		return 0, fmt.Errorf("decompress: %d bytes became more than %d: that is a bomb", g.in.n, g.out)
	}
	return n, err
}

// IsTar reports whether a file that begins so is a tar.
func IsTar(beginning []byte) bool {
	return len(beginning) >= 262 && string(beginning[257:262]) == "ustar"
}

// Member is a file of a tar, or a directory.
type Member struct {
	Name string // of a directory without the slash at its end
	Size int64
	Dir  bool
}

// BundleInTar copies the bundle of a tar to w.
func BundleInTar(r io.Reader, w io.Writer) error {
	found := false
	err := ReadTar(r, func(m Member, content io.Reader) error {
		if m.Name != BundleMember {
			return nil
		}
		if found {
			return fmt.Errorf("the tar has %s twice", BundleMember)
		}
		found = true
		if _, err := io.Copy(w, content); err != nil {
			return fmt.Errorf("read tar: %w", err)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("the tar has no %s", BundleMember)
	}
	return err
}

// ReadTar visits each member of a tar. It refuses the tar for any member that is no plain
// file or directory, or whose path leads out, and one that was cut off.
func ReadTar(r io.Reader, visit func(m Member, content io.Reader) error) error {
	end := &ending{from: r}
	t := tar.NewReader(end)
	for range maxMembers {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return end.check()
		}
		if err != nil {
			return fmt.Errorf("read tar: %w", err)
		}
		if err := checkMember(h); err != nil {
			return err
		}
		m := Member{Name: strings.TrimSuffix(h.Name, "/"), Size: h.Size, Dir: h.Typeflag == tar.TypeDir}
		if err := visit(m, t); err != nil {
			return err
		}
	}
	return fmt.Errorf("the tar has more than %d members", maxMembers)
}

// endOfTar is how many zero bytes end a tar. Go's reader takes a file that ends without
// them for a whole one.
const endOfTar = 1024

// ending watches how what is read ends.
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

// check reads what is left: a compressed file has its checksum there.
func (e *ending) check() error {
	if _, err := io.Copy(io.Discard, e); err != nil {
		return fmt.Errorf("read tar: %w", err)
	}
	if e.zeros < endOfTar {
		return errors.New("the tar is cut off: its end is missing")
	}
	return nil
}

func checkMember(h *tar.Header) error {
	clean := path.Clean(h.Name)
	switch {
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
		return fmt.Errorf("%q in the tar is neither a file nor a directory", name.Clip(h.Name, name.Said))
	case h.Name == "" || path.IsAbs(h.Name) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains("/"+h.Name+"/", "/../") ||
		strings.ContainsAny(h.Name, "\\\x00") || len(h.Name) > 1 && h.Name[1] == ':':
		return fmt.Errorf("%q in the tar leads out of it", name.Clip(h.Name, name.Said))
	case h.Size < 0 || h.Size > maxSize:
		return fmt.Errorf("%q in the tar has %d bytes", name.Clip(h.Name, name.Said), h.Size)
	}
	return nil
}
