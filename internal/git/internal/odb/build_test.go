package odb

import (
	"bytes"
	"crypto/sha1" // git's own hash
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"git-checkpoint/internal/format/name"
)

// item is an entry of a pack that a test makes: its raw bytes, and the id that the index has for
// it.
type item struct {
	id  [20]byte
	raw []byte
}

// id returns an id that begins with n.
func id(n byte) (out [20]byte) {
	out[0] = n
	out[19] = 1
	return out
}

func oidOf(n byte) name.OID {
	i := id(n)
	return name.OID(hex.EncodeToString(i[:]))
}

// build writes a pack and its index, and returns the offsets of the entries.
func build(t testing.TB, items ...item) (*Packs, []int64) {
	t.Helper()
	pack := []byte("PACK\x00\x00\x00\x02")
	pack = binary.BigEndian.AppendUint32(pack, uint32(len(items)))
	var offsets []int64
	for _, i := range items {
		offsets = append(offsets, int64(len(pack)))
		pack = append(pack, i.raw...)
	}
	sum := sha1.Sum(pack) // git's own hash
	pack = append(pack, sum[:]...)

	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(items[a].id[:], items[b].id[:]) })
	index := []byte(indexMagic)
	for first := range 256 {
		n := uint32(0)
		for _, i := range items {
			if int(i.id[0]) <= first {
				n++
			}
		}
		index = binary.BigEndian.AppendUint32(index, n)
	}
	for _, i := range order {
		index = append(index, items[i].id[:]...)
	}
	index = append(index, make([]byte, 4*len(items))...)
	for _, i := range order {
		index = binary.BigEndian.AppendUint32(index, uint32(offsets[i]))
	}
	index = append(index, sum[:]...)
	index = append(index, make([]byte, 20)...)

	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o777); err != nil {
		t.Fatal(err)
	}
	for ext, data := range map[string][]byte{"pack": pack, "idx": index} {
		if err := os.WriteFile(filepath.Join(dir, "pack", "pack-0."+ext), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	packs := New([]string{dir}, 20)
	t.Cleanup(packs.Close)
	return packs, offsets
}

// begin encodes the header of an entry.
func begin(typ byte, size int) []byte {
	out := []byte{typ<<4 | byte(size&0x0f)}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

func plain(t testing.TB, n byte, content string) item {
	t.Helper()
	return item{id(n), append(begin(3, len(content)), compress(t, 1, []byte(content))...)}
}

// onRef makes a ref delta against the id that begins with base.
func onRef(t testing.TB, n, base byte, delta []byte) item {
	t.Helper()
	of := id(base)
	return item{id(n), slices.Concat(begin(typeRefDelta, len(delta)), of[:], compress(t, 1, delta))}
}

// onOffset makes an offset delta against the entry that begins back bytes before it.
func onOffset(t testing.TB, n byte, back int64, delta []byte) item {
	t.Helper()
	coded := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		coded = append([]byte{byte(back&0x7f) | 0x80}, coded...)
	}
	return item{id(n), slices.Concat(begin(typeOffsetDelta, len(delta)), coded, compress(t, 1, delta))}
}

// sizes encodes the beginning of a delta: the size of its base and of its result.
func sizes(base, result int) []byte {
	var out []byte
	for _, n := range []int{base, result} {
		for ; n > 0x7f; n >>= 7 {
			out = append(out, byte(n)|0x80)
		}
		out = append(out, byte(n))
	}
	return out
}
