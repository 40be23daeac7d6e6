package odb

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// compress gives a stream of a level, flushed after each part.
func compress(t testing.TB, level int, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parts {
		if i > 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts are contents of many shapes: from what repeats to what does not compress.
func texts(random *rand.Rand) [][]byte {
	var all [][]byte
	for i := range 120 {
		out := make([]byte, random.IntN(1+750*(i%12)))
		letters := 1 + random.IntN(255)
		for k := range out {
			out[k] = byte(random.IntN(letters))
			if back := 1 + random.IntN(400); k > back && random.IntN(4) > 0 {
				for n := range min(random.IntN(300), len(out)-k) {
					out[k+n] = out[k+n-back]
				}
			}
		}
		all = append(all, out)
	}
	return append(all, nil, []byte{0}, make([]byte, 70_000), bytes.Repeat([]byte("abc"), 30_000))
}

// library inflates as compress/zlib does, which refuses what it must.
func library(stream []byte, size int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && len(out) != size {
		err = errStream
	}
	return out, err
}

// Every stream is inflated as the library does, says where it ends, and misses its bytes
// when they are not there.
func TestInflate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var z inflater
	for i, text := range texts(random) {
		for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
			cut := random.IntN(len(text) + 1)
			stream := compress(t, level, text[:cut], text[cut:])
			out := make([]byte, len(text))
			n, err := z.inflate(out, append(stream[:len(stream):len(stream)], "what follows"...))
			if err != nil || n != len(stream) || !bytes.Equal(out, text) {
				t.Fatalf("text %d of %d bytes, level %d: %d of %d, %v", i, len(text), level, n, len(stream), err)
			}
			short := random.IntN(len(stream))
			if _, err := z.inflate(out, stream[:short]); !errors.Is(err, errShort) {
				t.Fatalf("text %d, level %d, %d of %d bytes: %v", i, level, short, len(stream), err)
			}
			for _, wrong := range []int{len(text) - 1, len(text) + 1} {
				if wrong < 0 {
					continue
				}
				want := errEarly
				if wrong < len(text) {
					want = errFull
				}
				if _, err := z.inflate(make([]byte, wrong), stream); !errors.Is(err, want) {
					t.Fatalf("text %d, level %d, %d bytes for %d: %v", i, level, wrong, len(text), err)
				}
			}
		}
	}
}

// A stream with a byte that is not as it was gives what the library gives, or nothing.
func TestInflateGarbled(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var z inflater
	refused := 0
	for _, text := range texts(random)[:60] {
		stream := compress(t, random.IntN(10), text)
		for range 200 {
			garbled := bytes.Clone(stream)
			garbled[random.IntN(len(garbled))] ^= 1 << random.IntN(8)
			refused += agree(t, &z, garbled, len(text))
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: this cannot fail")
	}
}

// agree compares with the library: it may refuse less than we do, never more.
func agree(t *testing.T, z *inflater, stream []byte, size int) (refused int) {
	t.Helper()
	out := make([]byte, size)
	n, err := z.inflate(out, stream)
	if err != nil {
		return 1
	}
	want, wantErr := library(stream, size)
	if wantErr != nil || !bytes.Equal(out, want) || n > len(stream) {
		t.Fatalf("%x is read in %d bytes, and the library says %v", stream, n, wantErr)
	}
	return 0
}

func FuzzInflate(f *testing.F) {
	for _, text := range texts(rand.New(rand.NewPCG(5, 6)))[:20] {
		f.Add(compress(f, 1, text), len(text))
		f.Add(compress(f, 6, text), len(text))
	}
	f.Add([]byte{0x78, 0x01, 0x05, 0xe0, 0x81, 0x08, 0, 0, 0, 0, 0x20, 0x7f, 0xeb, 0x0b, 0, 0, 0, 1}, 0)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		agree(t, &inflater{}, stream, size)
	})
}
