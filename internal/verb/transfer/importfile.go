package transfer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/travel"
)

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
