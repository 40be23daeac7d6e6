package odb

// bases is a cache of the objects that a Reader made last, because they are often bases of the
// next ones. When it is full, it begins again.
type bases struct {
	at    map[Place]Object
	bytes int64 // of all kept objects, with overhead
}

// Limits of the cache: bytes of one object, and of all together.
const (
	maxKept      = 128 << 10
	maxKeptBytes = 256 << 10
	overhead     = 200 // bytes of memory for one, beside its content
)

// get returns the object at a place if it is in the cache.
func (b *bases) get(at Place) (Object, bool) {
	o, ok := b.at[at]
	return o, ok
}

// put adds an object. It does nothing if the object is too large or is in the cache already.
func (b *bases) put(at Place, o Object) {
	if _, kept := b.at[at]; kept || o.Size > maxKept {
		return
	}
	if b.bytes += o.Size + overhead; b.bytes > maxKeptBytes || b.at == nil {
		b.at, b.bytes = map[Place]Object{}, o.Size+overhead
	}
	b.at[at] = o
}
