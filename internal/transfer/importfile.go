package transfer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"git-checkpoint/internal/archive"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/travel"
)

// ImportTar imports the bundle that a tar of `export` holds, compressed or not.
func ImportTar(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, func(r *bufio.Reader, w io.Writer) error { return archive.ReadTar(r, w) })
}

// ImportLines imports the bundle that JSON lines of `export` hold, compressed or not.
func ImportLines(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, archive.ReadLines)
}

// importHeld takes the bundle out of a file into a temporary and imports that.
func importHeld(ctx context.Context, s *checkpoint.Service, file string, take func(*bufio.Reader, io.Writer) error) (*travel.Answer, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	bundle, err := os.CreateTemp(dir, store.TempPrefix+"bundle-")
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	defer os.Remove(bundle.Name()) //nolint:errcheck // swept later
	r, err := archive.Decompress(bufio.NewReader(f))
	if err == nil {
		err = take(r, bundle)
	}
	if closed := bundle.Close(); closed != nil {
		return nil, checkpoint.Classify(errors.Join(err, closed))
	}
	if err != nil {
		return nil, travel.Invalid(err)
	}
	found, err := travel.ImportBundle(ctx, s, bundle.Name())
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
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := archive.Decompress(bufio.NewReader(f))
	if err != nil {
		return nil, travel.Invalid(err)
	}
	beginning, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, travel.Invalid(err)
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
