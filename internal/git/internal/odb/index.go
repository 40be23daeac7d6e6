package odb

import (
	"bytes"
	"encoding/binary"
	"os"

	"git-checkpoint/internal/sys/mapped"
)

// index is the .idx file of a pack: it maps object ids to offsets. It is mapped into memory, so
// that only the pages are read that a search touches.
type index struct {
	all     []byte // the whole file
	hashLen int64
	fanout  [256]uint32 // how many ids begin with this byte or a lower one
	count   int64       // of objects
	sum     []byte      // the checksum with which the pack must end
}

// An index of version 2 consists of: a magic number and the version; the fanout table; the ids in
// order; a CRC for each entry; a 32-bit offset for each entry; 64-bit offsets for the entries
// that need them; the checksum of the pack; the checksum of the index.
const (
	indexMagic   = "\xfftOc\x00\x00\x00\x02"
	fanoutAt     = int64(len(indexMagic))
	idsAt        = fanoutAt + 256*4
	checksumSize = 4
	offsetSize   = 4
	wideSize     = 8
)

// openIndex checks the beginning and the size of an index, and refuses what git refuses. Like
// git, it does not compute the checksum.
func openIndex(f *os.File, hashLen int) (*index, error) {
	all, err := mapped.File(f)
	if err != nil {
		return nil, err
	}
	x := &index{all: all, hashLen: int64(hashLen)}
	size := int64(len(all))
	if size < idsAt || string(all[:fanoutAt]) != indexMagic {
		return nil, ErrUseGit
	}
	last := uint32(0)
	for i := range x.fanout {
		n := binary.BigEndian.Uint32(all[fanoutAt+4*int64(i):])
		if n < last {
			return nil, ErrUseGit
		}
		x.fanout[i], last = n, n
	}
	x.count = int64(last)
	least := idsAt + x.count*(x.hashLen+checksumSize+offsetSize) + 2*x.hashLen
	if size < least || size > least+max(0, x.count-1)*wideSize {
		return nil, ErrUseGit
	}
	x.sum = all[size-2*x.hashLen : size-x.hashLen]
	return x, nil
}

// find returns the offset of an object. The binary search compares with the same ids as git's
// search does, so that in a damaged index, whose ids are out of order, it finds no object that
// git would not find.
func (x *index) find(id []byte) (int64, bool) {
	lo, hi := int64(0), int64(x.fanout[id[0]])
	if id[0] > 0 {
		lo = int64(x.fanout[id[0]-1])
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch c := bytes.Compare(x.all[idsAt+mid*x.hashLen:][:x.hashLen], id); {
		case c == 0:
			return x.offset(mid)
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// offset returns the offset of the n-th object. If the highest bit of the 32-bit offset is set,
// the rest is an index into the table of 64-bit offsets.
func (x *index) offset(n int64) (int64, bool) {
	offsets := idsAt + x.count*(x.hashLen+checksumSize)
	at := int64(binary.BigEndian.Uint32(x.all[offsets+n*offsetSize:]))
	if at&(1<<31) == 0 {
		return at, true
	}
	wide := offsets + x.count*offsetSize + (at&^(1<<31))*wideSize
	if wide > int64(len(x.all))-2*x.hashLen-wideSize {
		return 0, false
	}
	// A negative offset is refused below.
	at = int64(binary.BigEndian.Uint64(x.all[wide:]))
	return at, at >= 0
}
