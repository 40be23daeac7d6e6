package odb

import "math/bits"

// bases are the objects that were read last, up to a number of bytes. The memory of those
// that nobody else was given is used again.
type bases struct {
	table []*kept // by where they are; those that fall together are linked
	count int
	bytes int64
	ring  kept // the one that was used last is the first after it
	free  [maxClass + 1][][]byte
	spare int64 // bytes of what is free
}

type where struct {
	pack   *pack
	offset int64
}

type kept struct {
	where
	object     Object
	given      bool // somebody has the content for good
	prev, next *kept
	beside     *kept // in the table
}

// tableBits makes the table as large as there can be objects.
const tableBits = 12

// at is where in the table an object stands, or would.
func (b *bases) at(w where) **kept {
	slot := &b.table[uint64(w.offset)*0x9e3779b97f4a7c15>>(64-tableBits)] // any number does
	for *slot != nil && (*slot).where != w {
		slot = &(*slot).beside
	}
	return slot
}

// What is kept: objects up to a size, and so much of them.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 256 << 10
	overhead     = 200 // bytes of memory for one, beside its content
	maxClass     = 17  // the content of maxKept has 1<<maxClass bytes
)

// room gives memory for content of a size; what it held may still stand there.
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

// reuse takes memory back that room gave.
func (b *bases) reuse(data []byte) {
	class := bits.Len64(uint64(max(cap(data), 1) - 1)) // it is not negative
	if class <= maxClass && cap(data) == 1<<class && b.spare < maxKeptBytes {
		b.free[class] = append(b.free[class], data)
		b.spare += 1 << class
	}
}

// give says that the content of what was read last is somebody else's from now on.
func (b *bases) give(p *pack, offset int64) {
	if k := b.ring.next; k != nil && k.where == (where{p, offset}) {
		k.given = true
	}
}

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
		b.count--
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
	b.count++
	b.link(k)
}

func (b *bases) link(k *kept) {
	k.prev, k.next = &b.ring, b.ring.next
	k.prev.next, k.next.prev = k, k
}

func (b *bases) unlink(k *kept) { k.prev.next, k.next.prev = k.next, k.prev }
