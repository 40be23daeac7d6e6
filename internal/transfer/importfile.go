package transfer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"git-checkpoint/internal/archive"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/travel"
)

// ImportTar imports the bundle that a tar of `export` holds, compressed or not, after it
// has compared every other member with it.
func ImportTar(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, func(r *bufio.Reader, w io.Writer) error { return archive.BundleInTar(r, w) },
		func(c *comparison, r *bufio.Reader) error {
			return archive.ReadTar(r, func(m archive.Member, content io.Reader) error { return c.member(ctx, m, content) })
		})
}

// ImportLines imports the bundle that JSON lines of `export` hold, compressed or not,
// after it has compared every other line with it.
func ImportLines(ctx context.Context, s *checkpoint.Service, file string) (*travel.Answer, error) {
	return importHeld(ctx, s, file, archive.BundleInLines, func(c *comparison, r *bufio.Reader) error {
		return archive.ReadLines(r, func(kind string, line []byte) error { return c.line(ctx, kind, line) })
	})
}

// importHeld takes the bundle out of a file into a temporary and imports that. compare
// reads the file a second time, once the objects of the bundle are here.
func importHeld(ctx context.Context, s *checkpoint.Service, file string, take func(*bufio.Reader, io.Writer) error, compare func(*comparison, *bufio.Reader) error) (*travel.Answer, error) {
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	bundle, err := os.CreateTemp(dir, store.TempPrefix+"bundle-")
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	defer os.Remove(bundle.Name()) //nolint:errcheck // swept later
	err = reading(file, func(r *bufio.Reader) error { return take(r, bundle) })
	if closed := bundle.Close(); closed != nil {
		return nil, checkpoint.Classify(errors.Join(err, closed))
	}
	if err != nil {
		return nil, err
	}
	found, err := travel.ImportBundle(ctx, s, bundle.Name(), func(ctx context.Context, came *remote.Listing) error {
		c := &comparison{s: s, came: came, sessions: map[name.Session]*compared{}}
		err := reading(file, func(r *bufio.Reader) error { return compare(c, r) })
		if err != nil && ctx.Err() != nil {
			err = checkpoint.Classify(context.Cause(ctx))
		}
		return err
	})
	if found != nil {
		found.Remote = file
		for i := range found.Lines {
			found.Lines[i].Remote = file
		}
	}
	return found, err
}

// reading reads a file, uncompressed. What is wrong with it refuses the whole.
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
