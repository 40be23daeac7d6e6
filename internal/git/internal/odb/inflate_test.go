package odb

import (
	"bytes"
	"compress/zlib"
	"errors"
	"math/rand/v2"
	"testing"
)

// compress returns a zlib stream of the given level, flushed after each part.
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

// texts returns contents of many kinds, from very repetitive to incompressible.
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

// Every stream is inflated and its length is right. It is refused if it is cut off or if its
// checksum is wrong.
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
			stream[len(stream)-1] ^= 1
			if _, err := z.inflate(out, stream); !errors.Is(err, ErrUseGit) {
				t.Fatalf("text %d, level %d, another checksum: %v", i, level, err)
			}
			stream[len(stream)-1] ^= 1
			short := random.IntN(len(stream))
			if _, err := z.inflate(out, stream[:short]); !errors.Is(err, errShort) {
				t.Fatalf("text %d, level %d, %d of %d bytes: %v", i, level, short, len(stream), err)
			}
			for _, wrong := range []int{len(text) - 1, len(text) + 1} {
				if wrong < 0 {
					continue
				}
				if _, err := z.inflate(make([]byte, wrong), stream); !errors.Is(err, ErrUseGit) {
					t.Fatalf("text %d, level %d, %d bytes for %d: %v", i, level, wrong, len(text), err)
				}
			}
		}
	}
}
