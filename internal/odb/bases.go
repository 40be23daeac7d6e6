package odb

// bases are the objects that were read last, up to a number of bytes.
type bases struct {
	known map[where]*kept
	bytes int64
	ring  kept // the one that was used last is the first after it
}

type where struct {
	pack   *pack
	offset int64
}

type kept struct {
	where
	object     Object
	prev, next *kept
}

// What is kept: objects up to a size, and so much of them.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 1 << 20
	overhead     = 200 // bytes of memory for one, beside its content
)

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
	}
	if k == nil {
		k = new(kept)
	}
	k.where, k.object = at, o
	b.known[at] = k
	b.link(k)
}

func (b *bases) link(k *kept) {
	k.prev, k.next = &b.ring, b.ring.next
	k.prev.next, k.next.prev = k, k
}

func (b *bases) unlink(k *kept) { k.prev.next, k.next.prev = k.next, k.prev }
