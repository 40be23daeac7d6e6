package odb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
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
	all   atomic.Pointer[[]byte]
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
	if all := x.held(); all != nil {
		return x.searchHeld(*all, lo, hi, id)
	}
	return x.search(x.file, lo, hi, id)
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
			return x.offset(bytes.NewReader(all), mid)
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// held is the whole index when it is small and has been asked often.
func (x *index) held() *[]byte {
	if all := x.all.Load(); all != nil || x.size > maxHeld {
		return all
	}
	if x.asked.Add(1) < askedOften {
		return nil
	}
	x.load.Do(func() {
		all := make([]byte, x.size)
		if _, err := x.file.ReadAt(all, 0); err == nil {
			x.all.Store(&all)
		}
	})
	return x.all.Load()
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
	offsets := idsAt + x.count*(x.hashLen+checksumSize)
	if _, err := from.ReadAt(b[:offsetSize], offsets+n*offsetSize); err != nil {
		return 0, false
	}
	at := int64(binary.BigEndian.Uint32(b[:]))
	if at&(1<<31) == 0 {
		return at, true
	}
	wide := offsets + x.count*offsetSize + (at&^(1<<31))*wideSize
	if wide > x.size-2*x.hashLen-wideSize {
		return 0, false
	}
	if _, err := from.ReadAt(b[:], wide); err != nil {
		return 0, false
	}
	at = int64(binary.BigEndian.Uint64(b[:]))
	return at, at >= 0
}
