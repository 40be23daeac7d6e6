package git

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
)

// Objects of any content and level can be read again, one after the other, and text in which nothing occurs twice is about as small
// as the standard library makes it: three quarters of base64, half of hexadecimal digits.
func TestDeflater(t *testing.T) {
	noise := make([]byte, 30_000)
	for i, random := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ { //nolint:gosec // a test
		noise[i] = byte(random.Uint32())
	}
	for _, level := range []int{-1, 0, 1, 6, 9} {
		d := &deflater{level: level}
		for what, k := range map[string]struct {
			content string
			most    int // of the length, in percent
		}{
			"nothing": {"", 100}, "short": {"x", 100}, "text": {strings.Repeat("a line of text\n", 1000), 5}, "noise": {string(noise), 101},
			"base64": {base64.StdEncoding.EncodeToString(noise), 78}, "hexadecimal": {hex.EncodeToString(noise), 55},
		} {
			d.out.Reset()
			d.out.WriteString("before")
			if err := d.append([]byte("head\x00"), []byte(k.content)); err != nil {
				t.Fatal(err)
			}
			stream := strings.TrimPrefix(d.out.String(), "before")
			z, err := zlib.NewReader(bytes.NewReader([]byte(stream)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(z); err != nil || string(got) != "head\x00"+k.content {
				t.Errorf("level %d, %s: %d bytes back, %v", level, what, len(got), err)
			}
			if most := (len(k.content)+5)*k.most/100 + 32; level != 0 && len(stream) > most {
				t.Errorf("level %d, %s: %d bytes are %d, at most %d are expected", level, what, len(k.content), len(stream), most)
			}
		}
	}
}
