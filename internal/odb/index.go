package odb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
)

// index finds where an object is in its pack. Of a large one only what is searched is
// read; a small one is kept in memory once it has been asked often.
type index struct {
	file    io.ReaderAt
	size    int64
	hashLen int64
	fanout  [256]uint32 // how many ids begin with this byte or a lower one
	count   int64
	sum     []byte // what the pack has to end with

	asked atomic.Int32
	load  sync.Once
	all   atomic.Pointer[held]
}

// held is an index in memory.
type held struct {
	data    []byte
	ordered bool // each id is larger than the one before, and stands where the fanout says
}

// An index of version 2: a magic number, the version, the fanout, the ids in order, a
// checksum for each, its offset, the offsets that need 64 bits, the pack's sum and its own.
const (
	indexMagic   = "\xfftOc\x00\x00\x00\x02"
	fanoutAt     = int64(len(indexMagic))
	idsAt        = fanoutAt + 256*4
	checksumSize = 4
	offsetSize   = 4
	wideSize     = 8
)

// maxHeld is the size of an index that may be kept in memory, and askedOften after how
// many questions it is.
const (
	maxHeld    = 8 << 20
	askedOften = 64
)

// openIndex reads the beginning and the end of an index, and refuses what git refuses.
func openIndex(f *os.File, hashLen int) (*index, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x := &index{file: f, size: info.Size(), hashLen: int64(hashLen)}
	var head [idsAt]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:fanoutAt]) != indexMagic {
		return nil, ErrElsewhere
	}
	last := uint32(0)
	for i := range x.fanout {
		n := binary.BigEndian.Uint32(head[fanoutAt+4*int64(i):])
		if n < last {
			return nil, ErrElsewhere
		}
		x.fanout[i], last = n, n
	}
	x.count = int64(last)
	least := idsAt + x.count*(x.hashLen+checksumSize+offsetSize) + 2*x.hashLen
	if x.size < least || x.size > least+max(0, x.count-1)*wideSize {
		return nil, ErrElsewhere
	}
	x.sum = make([]byte, hashLen)
	_, err = f.ReadAt(x.sum, x.size-2*x.hashLen)
	return x, err
}

// find gives the offset of an object. It compares with the same ids as git does, so that
// it finds nothing in a damaged index that git does not find.
func (x *index) find(id []byte) (int64, bool) {
	lo, hi := int64(0), int64(x.fanout[id[0]])
	if id[0] > 0 {
		lo = int64(x.fanout[id[0]-1])
	}
	all := x.held()
	if all == nil {
		return x.search(x.file, lo, hi, id)
	}
	if all.ordered {
		if n, ok := x.guess(all.data, lo, hi, id); ok {
			return x.offsetHeld(all.data, n)
		}
	}
	return x.searchHeld(all.data, lo, hi, id)
}

// guess finds an id among some that are in order and begin with the same byte: they are
// spread evenly, so it stands near where its next bytes say. False says nothing.
func (x *index) guess(all []byte, lo, hi int64, id []byte) (int64, bool) {
	const jumps, steps = 2, 8
	if lo >= hi {
		return 0, false
	}
	ids, n, first := all[idsAt+lo*x.hashLen:idsAt+hi*x.hashLen], hi-lo, binary.BigEndian.Uint64(id)
	have := func(at int64) uint64 { return binary.BigEndian.Uint64(ids[at*x.hashLen:]) }
	far := func(from, to uint64) int64 { // how many ids stand between two numbers
		high, _ := bits.Mul64((to-from)<<8, uint64(n))
		return int64(high) //nolint:gosec // less than n
	}
	at := far(first&^(1<<56-1), first)
	for range jumps {
		if h := have(at); h < first {
			at = min(at+far(h, first), n-1)
		} else {
			at = max(at-far(first, h), 0)
		}
	}
	for range steps {
		switch h := have(at); {
		case h == first:
			return lo + at, bytes.Equal(ids[at*x.hashLen:][:x.hashLen], id)
		case h < first && at+1 < n && have(at+1) <= first:
			at++
		case h > first && at > 0 && have(at-1) >= first:
			at--
		default:
			return 0, false
		}
	}
	return 0, false
}

// searchHeld is search in memory.
func (x *index) searchHeld(all []byte, lo, hi int64, id []byte) (int64, bool) {
	first := binary.BigEndian.Uint64(id)
	for lo < hi {
		mid := lo + (hi-lo)/2
		have := all[idsAt+mid*x.hashLen:][:x.hashLen]
		c := cmp.Compare(binary.BigEndian.Uint64(have), first)
		if c == 0 {
			c = bytes.Compare(have, id)
		}
		switch {
		case c == 0:
			return x.offsetHeld(all, mid)
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// held is the whole index when it is small and has been asked often.
func (x *index) held() *held {
	if all := x.all.Load(); all != nil || x.size > maxHeld {
		return all
	}
	if x.asked.Add(1) < askedOften {
		return nil
	}
	x.load.Do(func() {
		all := make([]byte, x.size)
		if _, err := x.file.ReadAt(all, 0); err == nil {
			x.all.Store(&held{all, x.ordered(all)})
		}
	})
	return x.all.Load()
}

// ordered looks whether every id is larger than the one before it, and begins with the
// byte that the fanout says. Then whoever searches in whatever way finds the same.
func (x *index) ordered(all []byte) bool {
	at, last := int64(0), uint64(0)
	for first, end := range x.fanout {
		for ; at < int64(end); at++ {
			id := all[idsAt+at*x.hashLen:][:x.hashLen]
			h := binary.BigEndian.Uint64(id)
			if int(id[0]) != first || h < last || h == last && at > 0 && bytes.Compare(all[idsAt+(at-1)*x.hashLen:][:x.hashLen], id) >= 0 {
				return false
			}
			last = h
		}
	}
	return true
}

// together is how many ids are read at once when no more than these are left.
const together = 64

func (x *index) search(from io.ReaderAt, lo, hi int64, id []byte) (int64, bool) {
	var block [together * 32]byte
	var ids []byte // those from first on
	first := int64(0)
	for lo < hi {
		mid := lo + (hi-lo)/2
		have := block[:x.hashLen]
		switch {
		case ids != nil:
			have = ids[(mid-first)*x.hashLen:][:x.hashLen]
		case hi-lo <= together:
			ids, first = block[:(hi-lo)*x.hashLen], lo
			if _, err := from.ReadAt(ids, idsAt+lo*x.hashLen); err != nil {
				return 0, false
			}
			continue
		default:
			if _, err := from.ReadAt(have, idsAt+mid*x.hashLen); err != nil {
				return 0, false
			}
		}
		switch c := bytes.Compare(have, id); {
		case c == 0:
			return x.offset(from, mid)
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// offset is that of the n-th object; its highest bit says that it is in the table of
// wide ones.
func (x *index) offset(from io.ReaderAt, n int64) (int64, bool) {
	var b [wideSize]byte
	if _, err := from.ReadAt(b[:offsetSize], x.offsetAt(n)); err != nil {
		return 0, false
	}
	at, wide, ok := x.placed(b[:])
	if !wide || !ok {
		return at, ok
	}
	if _, err := from.ReadAt(b[:], at); err != nil {
		return 0, false
	}
	at = int64(binary.BigEndian.Uint64(b[:])) //nolint:gosec // a negative one is refused
	return at, at >= 0
}

// offsetHeld is offset in memory.
func (x *index) offsetHeld(all []byte, n int64) (int64, bool) {
	at, wide, ok := x.placed(all[x.offsetAt(n):])
	if !wide || !ok {
		return at, ok
	}
	at = int64(binary.BigEndian.Uint64(all[at:])) //nolint:gosec // as above
	return at, at >= 0
}

// offsetAt is where the offset of the n-th object stands.
func (x *index) offsetAt(n int64) int64 {
	return idsAt + x.count*(x.hashLen+checksumSize) + n*offsetSize
}

// placed is an offset as it stands there, or where it stands as a wide one.
func (x *index) placed(b []byte) (at int64, wide, ok bool) {
	at = int64(binary.BigEndian.Uint32(b))
	if at&(1<<31) == 0 {
		return at, false, true
	}
	at = x.offsetAt(x.count) + (at&^(1<<31))*wideSize
	return at, true, at <= x.size-2*x.hashLen-wideSize
}
