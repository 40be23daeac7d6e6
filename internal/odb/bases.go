package odb

import "math/bits"

// bases are the objects that were read last, up to a number of bytes. The memory of those
// that nobody else was given is used again.
type bases struct {
	known map[where]*kept
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
}

// What is kept: objects up to a size, and so much of them.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 1 << 20
	overhead     = 200 // bytes of memory for one, beside its content
	maxClass     = 17  // the content of maxKept has 1<<maxClass bytes
)

// room gives memory for content of a size; what it held may still stand there.
func (b *bases) room(size int64) []byte {
	if size == 0 || size > maxKept {
		return make([]byte, size)
	}
	class := bits.Len64(uint64(size - 1)) //nolint:gosec // it is positive
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
	class := bits.Len64(uint64(max(cap(data), 1) - 1)) //nolint:gosec // it is not negative
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
	k := b.known[where{p, offset}]
	if k == nil {
		return Object{}, false
	}
	b.unlink(k)
	b.link(k)
	return k.object, true
}

func (b *bases) put(p *pack, offset int64, o Object) {
	at := where{p, offset}
	if o.Size > maxKept || b.known[at] != nil {
		return
	}
	if b.known == nil {
		b.known = map[where]*kept{}
		b.ring.prev, b.ring.next = &b.ring, &b.ring
	}
	b.bytes += o.Size + overhead
	var k *kept
	for b.bytes > maxKeptBytes && b.ring.prev != &b.ring {
		k = b.ring.prev
		b.unlink(k)
		delete(b.known, k.where)
		b.bytes -= k.object.Size + overhead
		if !k.given {
			b.reuse(k.object.Data)
		}
	}
	if k == nil {
		k = new(kept)
	}
	k.where, k.object, k.given = at, o, false
	b.known[at] = k
	b.link(k)
}

func (b *bases) link(k *kept) {
	k.prev, k.next = &b.ring, b.ring.next
	k.prev.next, k.next.prev = k, k
}

func (b *bases) unlink(k *kept) { k.prev.next, k.next.prev = k.next, k.prev }
