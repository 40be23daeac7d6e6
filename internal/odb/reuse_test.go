package odb

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// Content from Read stays as it is while memory is used again, and content from Peek is right
// until something else is read.
func TestPeek(t *testing.T) {
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
	reused := 0
	for range 3000 {
		n := random.IntN(len(items))
		at.offset = offsets[n]
		read := r.Peek
		if random.IntN(10) == 0 {
			read = r.Read
		}
		before := 0
		for _, free := range r.bases.free {
			before += len(free)
		}
		o, err := read(at, most)
		if err != nil || !bytes.Equal(o.Data, want[n]) {
			t.Fatalf("%d: %d bytes, not %d: %v", n, len(o.Data), len(want[n]), err)
		}
		if before > 0 {
			reused++
		}
		if random.IntN(10) == 0 {
			o, err = r.Read(at, most)
			if err != nil {
				t.Fatal(err)
			}
			held[n] = o.Data
		}
	}
	for n, data := range held {
		if !bytes.Equal(data, want[n]) {
			t.Errorf("%d was written over", n)
		}
	}
	if reused == 0 {
		t.Error("no memory was used again")
	}
}

// However ids are distributed, guess finds what the binary search finds. It is not used if the
// ids are not in order.
func TestGuess(t *testing.T) {
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
		for range 1 + askedOften/len(items) { // by binary search at first, and then by guess
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
		x := (*packs.packs.Load())[0].index
		if !x.ordered.Load() {
			t.Fatal("it is not in order")
		}
		for n := range items {
			if data := slices.Clone(x.all); n > 0 {
				a, b := data[int(idsAt)+20*n-20:][:20], data[int(idsAt)+20*n:][:20]
				for i := range a {
					a[i], b[i] = b[i], a[i]
				}
				if (&index{all: data, hashLen: x.hashLen, fanout: x.fanout, count: x.count}).inOrder() {
					t.Fatal("ids out of order are in order")
				}
			}
		}
	}
}
