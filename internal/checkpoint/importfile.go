package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"git-checkpoint/internal/archive"
	"git-checkpoint/internal/store"
)

// ImportTar imports the bundle that a tar of `export` holds, compressed or not.
func (s *Service) ImportTar(ctx context.Context, file string) (*TravelAnswer, error) {
	return s.importHeld(ctx, file, func(r *bufio.Reader, w io.Writer) error { return archive.ReadTar(r, w) })
}

// ImportLines imports the bundle that JSON lines of `export` hold, compressed or not.
func (s *Service) ImportLines(ctx context.Context, file string) (*TravelAnswer, error) {
	return s.importHeld(ctx, file, archive.ReadLines)
}

// importHeld takes the bundle out of a file into a temporary and imports that.
func (s *Service) importHeld(ctx context.Context, file string, take func(*bufio.Reader, io.Writer) error) (*TravelAnswer, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &Error{Kind: KindNotFound, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	dir, err := s.repo.Dir()
	if err != nil {
		return nil, classify(err)
	}
	bundle, err := os.CreateTemp(dir, store.TempPrefix+"bundle-")
	if err != nil {
		return nil, classify(err)
	}
	defer os.Remove(bundle.Name()) //nolint:errcheck // swept later
	r, err := archive.Decompress(bufio.NewReader(f))
	if err == nil {
		err = take(r, bundle)
	}
	if closed := bundle.Close(); closed != nil {
		return nil, classify(errors.Join(err, closed))
	}
	if err != nil {
		return nil, invalid(err)
	}
	found, err := s.ImportBundle(ctx, bundle.Name())
	if found != nil {
		found.Remote = file
		for i := range found.Lines {
			found.Lines[i].Remote = file
		}
	}
	return found, err
}

// Sniff gives the beginning of what a file holds, uncompressed.
func Sniff(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &Error{Kind: KindNotFound, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := archive.Decompress(bufio.NewReader(f))
	if err != nil {
		return nil, invalid(err)
	}
	beginning, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, invalid(err)
	}
	return beginning, nil
}

// HeldBy is the format of a file of ours that begins so: "bundle", "tar", "jsonl", or
// "" for another.
func HeldBy(beginning []byte) string {
	switch {
	case archive.IsBundle(beginning):
		return "bundle"
	case archive.IsTar(beginning):
		return "tar"
	case archive.IsLines(beginning):
		return "jsonl"
	}
	return ""
}
