package odb

import "math/bits"

// bases is a cache of the objects that a Reader made last, because they are often bases of the
// next ones. It is a hash table by place, and a ring in the order of use from which the oldest
// are dropped. Memory of a dropped object is used again, unless its content was given to a caller
// (Read).
type bases struct {
	table []*kept                // hash table; entries of one slot are linked by beside
	bytes int64                  // of all kept objects, with overhead
	ring  kept                   // list head: next is the object used last, prev the one used least recently
	free  [maxClass + 1][][]byte // memory to use again, by class; class n has slices of 1<<n bytes
	spare int64                  // bytes in free
}

// where is the place of an object, as the key of the cache.
type where struct {
	pack   *pack
	offset int64
}

// kept is an object in the cache.
type kept struct {
	where
	object     Object
	given      bool // a caller of Read has the content, so its memory must not be used again
	prev, next *kept
	beside     *kept // the next one in the same slot of the table
}

// tableBits is the binary logarithm of the size of the table. It has more slots than there can be
// objects: maxKeptBytes/overhead.
const tableBits = 12

// at returns the pointer in the table that leads to the object at w, or that would.
func (b *bases) at(w where) **kept {
	slot := &b.table[uint64(w.offset)*0x9e3779b97f4a7c15>>(64-tableBits)] // multiplicative hash; any large odd number does
	for *slot != nil && (*slot).where != w {
		slot = &(*slot).beside
	}
	return slot
}

// Limits of the cache: bytes of one object, and of all together.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 256 << 10
	overhead     = 200 // bytes of memory for one, beside its content
	maxClass     = 17  // the content of maxKept has 1<<maxClass bytes
)

// room returns memory for content of size bytes. It may still hold old bytes. Up to maxKept it
// comes in powers of two, so that it can be used again for content of another size.
func (b *bases) room(size int64) []byte {
	if size == 0 || size > maxKept {
		return make([]byte, size)
	}
	class := bits.Len64(uint64(size - 1)) // it is positive
	free := b.free[class]
	if n := len(free); n > 0 {
		b.free[class] = free[:n-1]
		b.spare -= 1 << class
		return free[n-1][:size]
	}
	return make([]byte, size, 1<<class)
}

// reuse takes back memory that room returned.
func (b *bases) reuse(data []byte) {
	class := bits.Len64(uint64(max(cap(data), 1) - 1)) // it is not negative
	if class <= maxClass && cap(data) == 1<<class && b.spare < maxKeptBytes {
		b.free[class] = append(b.free[class], data)
		b.spare += 1 << class
	}
}

// give records that the content of the object read last now belongs to a caller.
func (b *bases) give(p *pack, offset int64) {
	if k := b.ring.next; k != nil && k.where == (where{p, offset}) {
		k.given = true
	}
}

// get returns the object at an offset if it is in the cache, and makes it the one used last.
func (b *bases) get(p *pack, offset int64) (Object, bool) {
	if b.table == nil {
		return Object{}, false
	}
	k := *b.at(where{p, offset})
	if k == nil {
		return Object{}, false
	}
	b.unlink(k)
	b.link(k)
	return k.object, true
}

// put adds an object, and drops the ones used least recently to make room. It does nothing if the
// object is too large or is in the cache already.
func (b *bases) put(p *pack, offset int64, o Object) {
	at := where{p, offset}
	if b.table == nil {
		b.table = make([]*kept, 1<<tableBits)
		b.ring.prev, b.ring.next = &b.ring, &b.ring
	}
	if o.Size > maxKept || *b.at(at) != nil {
		return
	}
	b.bytes += o.Size + overhead
	var k *kept
	for b.bytes > maxKeptBytes && b.ring.prev != &b.ring {
		k = b.ring.prev
		b.unlink(k)
		*b.at(k.where) = k.beside
		b.bytes -= k.object.Size + overhead
		if !k.given {
			b.reuse(k.object.Data)
		}
	}
	if k == nil {
		k = new(kept)
	}
	*k = kept{where: at, object: o}
	*b.at(at) = k
	b.link(k)
}

// link inserts k at the front of the ring.
func (b *bases) link(k *kept) {
	k.prev, k.next = &b.ring, b.ring.next
	k.prev.next, k.next.prev = k, k
}

// unlink removes k from the ring.
func (b *bases) unlink(k *kept) { k.prev.next, k.next.prev = k.next, k.prev }
