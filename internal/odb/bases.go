package odb

import "container/list"

// bases is a cache of the objects that a Reader made last, because they are often bases of the
// next ones. The ones used least recently are dropped.
type bases struct {
	at    map[Place]*list.Element
	used  list.List // of base, the one used last in front
	bytes int64     // of all kept objects, with overhead
}

// base is an object in the cache.
type base struct {
	at     Place
	object Object
}

// Limits of the cache: bytes of one object, and of all together.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 256 << 10
	overhead     = 200 // bytes of memory for one, beside its content
)

// get returns the object at a place if it is in the cache, and makes it the one used last.
func (b *bases) get(at Place) (Object, bool) {
	e := b.at[at]
	if e == nil {
		return Object{}, false
	}
	b.used.MoveToFront(e)
	return e.Value.(base).object, true
}

// put adds an object, and drops the ones used least recently to make room. It does nothing if the
// object is too large or is in the cache already.
func (b *bases) put(at Place, o Object) {
	if o.Size > maxKept || b.at[at] != nil {
		return
	}
	if b.at == nil {
		b.at = map[Place]*list.Element{}
	}
	b.at[at] = b.used.PushFront(base{at, o})
	for b.bytes += o.Size + overhead; b.bytes > maxKeptBytes; {
		last := b.used.Remove(b.used.Back()).(base)
		delete(b.at, last.at)
		b.bytes -= last.object.Size + overhead
	}
}
