package odb

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
)

// errShort says that the input ends before the stream does, errFull that the stream holds more
// than was asked for, errEarly that it holds less, and errStream that it is no valid zlib stream.
var (
	errShort  = errors.New("the compressed stream is cut off")
	errFull   = errors.New("the compressed stream is longer than expected")
	errEarly  = errors.New("the compressed stream is shorter than expected")
	errStream = errors.New("not a compressed stream")
)

// inflater inflates zlib streams from memory and says where they end, since the objects in a pack
// stand directly behind each other. It is used for many streams, because creating a zlib reader
// costs more than inflating a small object.
type inflater struct {
	in     bytes.Reader // it is an io.ByteReader, from which zlib does not read beyond the end of the stream
	stream io.ReadCloser
	done   int     // how many bytes inflateUpTo wrote
	beyond [1]byte // receives a byte that the stream has too many
}

// inflate fills out from the stream at the beginning of in, and returns the length of the stream.
func (z *inflater) inflate(out, in []byte) (int, error) {
	n, err := z.inflateUpTo(out, in)
	if err == nil && z.done < len(out) {
		return 0, errEarly
	}
	return n, err
}

// inflateUpTo is inflate for a stream that may hold less than out has room for. z.done says how
// much it was. It reads until the end of the stream, because only then is its checksum verified.
func (z *inflater) inflateUpTo(out, in []byte) (int, error) {
	z.done = 0
	err := z.open(in)
	for err == nil {
		var n int
		if z.done < len(out) {
			n, err = z.stream.Read(out[z.done:])
			z.done += n
		} else if n, err = z.stream.Read(z.beyond[:]); n > 0 {
			return 0, errFull
		}
	}
	switch {
	case errors.Is(err, io.EOF): // zlib has compared the checksum too
		return len(in) - z.in.Len(), nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errShort
	default:
		return 0, errStream
	}
}

// open begins a new stream. It resets the reader of the previous one if there is one.
func (z *inflater) open(in []byte) (err error) {
	z.in.Reset(in)
	if again, is := z.stream.(zlib.Resetter); is {
		return again.Reset(&z.in, nil)
	}
	z.stream, err = zlib.NewReader(&z.in)
	return err
}
