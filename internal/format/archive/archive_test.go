package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
)

const oid = name.OID("1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d")

func buffered(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// A header is read as it was written, and the reader is then at the start of the pack.
func TestHeader(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		id := oid
		if format == "sha256" {
			id = oid[:32] + oid[:32]
		}
		want := Header{Format: format, Refs: []Ref{{"refs/checkpoints/main/journal", id}, {name.NotesRef, id}}, Needs: []name.OID{id}}
		r := buffered(string(want.Encode()) + "PACK")
		got, err := ReadHeader(r)
		if err != nil || !bytes.Equal(got.Encode(), want.Encode()) {
			t.Errorf("%+v, %v", got, err)
		}
		if rest, err := io.ReadAll(r); string(rest) != "PACK" || err != nil {
			t.Errorf("left is %q, %v", rest, err)
		}
	}
}

// Anything that is not ours refuses the whole file.
func TestHeaderRefused(t *testing.T) {
	const begin = "# v2 git bundle\n"
	id := string(oid)
	for what, header := range map[string]string{
		"another file":     "hello\n\n",
		"a branch":         begin + id + " refs/heads/main\n\n",
		"a ref above":      begin + id + " refs/checkpoints/../heads/main\n\n",
		"twice":            begin + id + " refs/notes/checkpoints\n" + id + " refs/notes/checkpoints\n\n",
		"another length":   begin + id + id[:24] + " refs/notes/checkpoints\n\n",
		"no id":            begin + "x refs/notes/checkpoints\n\n",
		"no end":           begin + id + " refs/notes/checkpoints\n",
		"an unknown wish":  "# v3 git bundle\n@filter=blob:none\n\n",
		"a wish in format": begin + "@object-format=sha256\n\n",
		"a long line":      begin + strings.Repeat("a", maxLine+2) + "\n\n",
	} {
		if h, err := ReadHeader(buffered(header)); err == nil {
			t.Errorf("%s: %+v", what, h)
		}
	}
}

// A bundle of any length can be read back from JSON lines and from a tar, compressed or
// not.
func TestBundleTravels(t *testing.T) {
	for _, length := range []int{1, lineBytes - 1, lineBytes, 3*lineBytes + 5} {
		bundle := bytes.Repeat([]byte("bundle\x00"), length/7+1)[:length]
		var lines, out bytes.Buffer
		if err := WriteBundleLines(&lines, bytes.NewReader(bundle)); err != nil {
			t.Fatal(err)
		}
		lines.WriteString(`{"type":"checkpoint","id":"x"}` + "\n")
		if !IsLines(lines.Bytes()) {
			t.Error("they are not known as lines")
		}
		if err := BundleInLines(bufio.NewReader(&lines), &out); err != nil || !bytes.Equal(out.Bytes(), bundle) {
			t.Errorf("%d bytes in lines: %d came out, %v", length, out.Len(), err)
		}
		for _, compressed := range []bool{false, true} {
			file := tarOf(t, compressed, BundleMember, string(bundle))
			out.Reset()
			r, err := Decompress(bufio.NewReader(bytes.NewReader(file)))
			if err != nil {
				t.Fatal(err)
			}
			if err := BundleInTar(r, &out); err != nil || !bytes.Equal(out.Bytes(), bundle) {
				t.Errorf("%d bytes in a tar: %d came out, %v", length, out.Len(), err)
			}
		}
	}
}

func tarOf(t *testing.T, compressed bool, namesAndContents ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file)
	for i := 0; i < len(namesAndContents); i += 2 {
		if err := w.File(namesAndContents[i], 0o644, time.Unix(1, 5), []byte(namesAndContents[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !compressed {
		return file.Bytes()
	}
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	if _, err := z.Write(file.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return small.Bytes()
}

// The same members give the same bytes, whenever and wherever.
func TestTarIsReproducible(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		if !bytes.Equal(tarOf(t, compressed, "a", "x"), tarOf(t, compressed, "a", "x")) {
			t.Error("two files differ")
		}
	}
}

// A tar that was cut off, or has no bundle or two, is refused.
func TestTarRefused(t *testing.T) {
	whole := tarOf(t, false, BundleMember, "x")
	for what, file := range map[string][]byte{
		"cut off":     whole[:len(whole)-endOfTar],
		"no bundle":   tarOf(t, false, "a", "x"),
		"two bundles": tarOf(t, false, BundleMember, "x", BundleMember, "y"),
	} {
		if err := BundleInTar(bufio.NewReader(bytes.NewReader(file)), io.Discard); err == nil {
			t.Errorf("%s: it was taken", what)
		}
	}
	if err := BundleInTar(bufio.NewReader(bytes.NewReader(whole)), io.Discard); err != nil {
		t.Error(err)
	}
}

// A small file that expands to a huge one is refused.
func TestBomb(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	if _, err := z.Write(make([]byte, freeBytes+1)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Decompress(bufio.NewReader(&file))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); err == nil || !strings.Contains(err.Error(), "bomb") {
		t.Errorf("%d bytes, %v", n, err)
	}
}
