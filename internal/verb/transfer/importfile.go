package transfer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/travel"
)

// ImportTar imports the bundle inside a tar from `export`, gzipped or not, after comparing
// every other member with it.
func ImportTar(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, func(r *bufio.Reader, w io.Writer) error { return archive.BundleInTar(r, w) },
		func(c *comparison, r *bufio.Reader) error {
			return archive.ReadTar(r, func(m archive.Member, content io.Reader) error { return c.member(ctx, m, content) })
		})
}

// ImportLines imports the bundle inside a JSON lines file from `export`, gzipped or not,
// after comparing every other line with it.
func ImportLines(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, archive.BundleInLines, func(c *comparison, r *bufio.Reader) error {
		return archive.ReadLines(r, func(kind string, line []byte) error { return c.line(ctx, "", kind, line) })
	})
}

// importHeld reads the file twice: take copies the bundle to a temporary file, which is
// imported, and compare checks the rest once the objects of the bundle are here and before
// anything refers to them.
func importHeld(ctx context.Context, s *checkpoint.Service, file string, take func(*bufio.Reader, io.Writer) error, compare func(*comparison, *bufio.Reader) error) (*travel.Answer, error) {
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
	found, err := travel.ImportBundle(ctx, s, bundle.Name(), func(ctx context.Context, came *remote.Listing) error {
		c := &comparison{s: s, came: came, states: map[name.Session]*journal.State{}, events: map[name.OID]*journal.Event{}}
		err := reading(file, func(r *bufio.Reader) error { return compare(c, r) })
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
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
