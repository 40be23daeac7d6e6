package odb

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zlib"
)

// errShort says that the input ends before the stream does. What else is wrong with a stream is
// ErrUseGit.
var errShort = errors.New("the compressed stream is cut off")

// inflater inflates zlib streams from memory and says where they end, since the objects in a pack
// follow each other directly. It is used for many streams, because creating a zlib reader costs
// more than inflating a small object.
type inflater struct {
	in     bytes.Reader // it is an io.ByteReader, from which zlib does not read beyond the end of the stream
	stream io.ReadCloser
	beyond [1]byte // receives a byte that the stream has too many
}

// inflate fills out from the stream at the beginning of in, and returns the length of the stream.
func (z *inflater) inflate(out, in []byte) (int, error) {
	if err := z.open(in); err != nil {
		return 0, err
	}
	return z.finish(out)
}

// open begins a new stream. It resets the reader of the previous one if there is one.
func (z *inflater) open(in []byte) (err error) {
	z.in.Reset(in)
	if again, is := z.stream.(zlib.Resetter); is {
		err = again.Reset(&z.in, nil)
	} else {
		z.stream, err = zlib.NewReader(&z.in)
	}
	return streamError(err)
}

// finish fills out with the rest of the stream and returns the length of the whole stream. It reads
// to the end of the stream, because only then is its checksum verified.
func (z *inflater) finish(out []byte) (int, error) {
	n, err := z.read(out)
	if err == nil && n < len(out) {
		err = ErrUseGit // it holds less
	}
	if err != nil {
		return 0, err
	}
	if n, err = z.read(z.beyond[:]); n > 0 {
		err = ErrUseGit // it holds more
	}
	return int(z.in.Size()) - z.in.Len(), err
}

// read reads from the stream until out is full or the stream ends. It returns how much it read.
func (z *inflater) read(out []byte) (n int, err error) {
	for n < len(out) && err == nil {
		var more int
		more, err = z.stream.Read(out[n:])
		n += more
	}
	return n, streamError(err)
}

// streamError returns our error for one of zlib. The end of the stream is none.
func streamError(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF): // zlib has compared the checksum too
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errShort
	default:
		return ErrUseGit
	}
}
