package odb

// bases is a cache of the objects that a Reader made last, because they are often bases of the
// next ones. It has two generations: when the young one is full, it becomes the old one. What is
// asked for is young again.
type bases struct {
	young, old map[Place]Object
	bytes      int64 // of all young objects, with overhead
}

// Limits of the cache: bytes of one object, and of one generation.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 2 << 20
	overhead     = 200 // bytes of memory for one, beside its content
)

// get returns the object at a place if it is in the cache.
func (b *bases) get(at Place) (Object, bool) {
	o, ok := b.young[at]
	if !ok {
		if o, ok = b.old[at]; ok {
			b.put(at, o)
		}
	}
	return o, ok
}

// put adds an object. It does nothing if the object is too large or is young already.
func (b *bases) put(at Place, o Object) {
	if _, kept := b.young[at]; kept || o.Size > maxKept {
		return
	}
	if b.bytes += o.Size + overhead; b.bytes > maxKeptBytes || b.young == nil {
		b.old, b.young, b.bytes = b.young, map[Place]Object{}, o.Size+overhead
	}
	b.young[at] = o
}
