package odb

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// Content stays as it is while other objects are read, whether they come from the cache or not.
func TestReadAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var items []item
	var want [][]byte
	for n := range 200 { // more than the cache holds
		content := make([]byte, random.IntN(40_000))
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		i := plain(t, 1, string(content))
		binary.BigEndian.PutUint16(i.id[1:], uint16(n))
		items, want = append(items, i), append(want, content)
		if n%3 == 0 && len(content) > 10 {
			d := onRef(t, 2, 1, append(sizes(len(content), 14), 0x90, 10, 4, 'm', 'o', 'r', 'e'))
			copy(d.raw[1:], i.id[:]) // its header has one byte
			binary.BigEndian.PutUint16(d.id[1:], uint16(n))
			items, want = append(items, d), append(want, append(slices.Clone(content[:10]), "more"...))
		}
	}
	packs, offsets := build(t, items...)
	var r Reader
	held := map[int][]byte{}
	at, ok := packs.find(items[0].id[:])
	if !ok {
		t.Fatal("it is not found")
	}
	for range 3000 {
		n := random.IntN(len(items))
		at.offset = offsets[n]
		o, err := r.Read(at, most)
		if err != nil || !bytes.Equal(o.Data, want[n]) {
			t.Fatalf("%d: %d bytes, not %d: %v", n, len(o.Data), len(want[n]), err)
		}
		if random.IntN(10) == 0 {
			held[n] = o.Data
		}
	}
	for n, data := range held {
		if !bytes.Equal(data, want[n]) {
			t.Errorf("%d was written over", n)
		}
	}
	kept := int64(0)
	for _, o := range r.bases.young {
		kept += o.Size + overhead
	}
	if kept == 0 || kept != r.bases.bytes || kept > maxKeptBytes {
		t.Errorf("%d bytes are kept, and %d counted", kept, r.bases.bytes)
	}
}

// Every id is found, and no other one, however the ids are distributed.
func TestFind(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, spread := range []func() uint64{
		random.Uint64,
		func() uint64 { return random.Uint64N(1<<20) | 7<<56 },
		func() uint64 { return uint64(random.ExpFloat64()*1e15) & (1<<56 - 1) },
		func() uint64 { return random.Uint64N(3)<<55 | random.Uint64N(4) },
	} {
		var items []item
		seen := map[[20]byte]bool{}
		for range 500 {
			var i item
			binary.BigEndian.PutUint64(i.id[:], spread())
			i.id[10] = byte(random.Uint32N(3))
			if i.raw = []byte("x"); !seen[i.id] {
				items = append(items, i)
			}
			seen[i.id] = true
		}
		packs, offsets := build(t, items...)
		for n, i := range items {
			if at, ok := packs.find(i.id[:]); !ok || at.offset != offsets[n] {
				t.Fatalf("%x is at %d, not at %d", i.id, at.offset, offsets[n])
			}
			other := i.id
			other[random.IntN(20)]++
			if at, ok := packs.find(other[:]); ok != seen[other] {
				t.Fatalf("%x is found at %d", other, at.offset)
			}
		}
	}
}

// A full cache forgets what was not asked for, and keeps what was.
func TestBases(t *testing.T) {
	var b bases
	place := func(n int) Place { return Place{nil, int64(n)} }
	o := Object{Size: maxKept - overhead}
	for n := range 10 * maxKeptBytes / maxKept {
		b.put(place(n), o)
		if _, ok := b.get(place(0)); !ok {
			t.Fatalf("what is always asked for was forgotten after %d", n)
		}
	}
	if _, ok := b.get(place(1)); ok {
		t.Error("what was never asked for is kept")
	}
	if len(b.young)+len(b.old) > 2*maxKeptBytes/maxKept {
		t.Errorf("%d are kept", len(b.young)+len(b.old))
	}
}
