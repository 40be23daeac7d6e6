package odb

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
)

// errShort says that a stream goes on behind what there is of it, errFull that it gives
// more than there is room for, errEarly that it gives less, errStream that it is none.
var (
	errShort  = errors.New("the compressed stream is cut off")
	errFull   = errors.New("the compressed stream holds more than it has to")
	errEarly  = errors.New("the compressed stream holds less than it has to")
	errStream = errors.New("no compressed stream")
)

// inflater inflates streams of which all is in memory, and says where they end: objects
// in a pack stand right behind each other. One is used for many streams, because making
// the library's reader costs more than a small object.
type inflater struct {
	in     bytes.Reader // a ByteReader, of which the library takes no byte too many
	stream io.ReadCloser
	done   int // how much came out
	beyond [1]byte
}

// inflate fills out from a zlib stream at the beginning of in, and says how long that is.
func (z *inflater) inflate(out, in []byte) (int, error) {
	n, err := z.inflateUpTo(out, in)
	if err == nil && z.done < len(out) {
		return 0, errEarly
	}
	return n, err
}

// inflateUpTo is inflate of a stream that may have less than out has room for: done says
// how much came.
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
	case errors.Is(err, io.EOF): // the checksum was compared too
		return len(in) - z.in.Len(), nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errShort
	default:
		return 0, errStream
	}
}

func (z *inflater) open(in []byte) (err error) {
	z.in.Reset(in)
	if again, is := z.stream.(zlib.Resetter); is {
		return again.Reset(&z.in, nil)
	}
	z.stream, err = zlib.NewReader(&z.in)
	return err
}
