package snapshot

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"strings"
	"testing"
)

// A stored form that can have the content in it is not taken for a name of content elsewhere.
func TestIsElsewhere(t *testing.T) {
	noise := make([]byte, 20_000)
	for i, random := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(random.Uint32())
	}
	text := []byte(strings.Repeat("some words that a writer repeats, and others\n", 400))
	zipped := func(data []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	annex := []byte("/annex/objects/SHA256E-s20000--" + strings.Repeat("4d", 32) + ".bin\n")
	const digest = "9ac007af3de930baf647288da0c843b26a5f046a"
	for what, k := range map[string]struct {
		file, stored []byte
		want         bool
	}{
		"an annex":                 {noise, annex, true},
		"an annex, of text":        {text, annex, true},
		"a short name":             {noise, []byte("asset 17\n"), true},
		"compressed text":          {text, zipped(text), false},
		"compressed noise":         {noise, zipped(noise)[:len(noise)-1], false},
		"words replaced":           {text, bytes.ReplaceAll(text, []byte("others"), []byte("o")), false},
		"a digest that is in both": {[]byte("id " + digest + " dirty\n"), []byte("id " + digest + "\n"), false},
		"line endings":             {bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), text, false},
	} {
		if got := isElsewhere(k.file, k.stored); got != k.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
