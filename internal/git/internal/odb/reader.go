package odb

import "errors"

// Object is an object that was read. Its content is shared with the cache and must not be
// changed.
type Object struct {
	Type string // "blob", "tree", "commit" or "tag"
	Size int64  // bytes of content
	Data []byte // nil from Info
}

// Reader reads objects from packs and from loose files. It is not safe for concurrent use.
//
// An entry of a pack is either a whole object or a delta against another entry, its base, which
// may be a delta in turn. Since neighbours in a pack are often made from the same bases, the
// reader keeps the last objects that it made.
type Reader struct {
	inflater inflater
	bases    bases
	ahead    window            // bytes of the pack near the objects that are asked for
	aside    window            // bytes of the pack near their bases, which may be far away
	below    bool              // a base is being read, so bytes may use aside
	scratch  []byte            // for a delta or the file of a loose object; used again each time
	head     [LongestHead]byte // the beginning of a loose object
}

// window is a part of a pack that was read into memory. A read from a file costs much more than
// the bytes it returns, and objects are often read in the order in which they are in the pack.
type window struct {
	data []byte
	of   *pack
	from int64 // the offset of data in the pack
	size int64 // how much to read at once; it grows while reads are sequential
}

// Types of pack entries other than those of whole objects. A delta has the type of its base. The
// base of an offset delta is named by its distance, that of a ref delta by its id.
const (
	typeOffsetDelta = 6
	typeRefDelta    = 7
)

// typeNames are the types of whole objects by their number in a pack.
var typeNames = [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// header is what stands at the beginning of a pack entry.
type header struct {
	typ  byte
	size int64 // of the inflated content; of a delta, not of the object that it makes
	base int64 // for a delta: the offset of its base
	data int64 // the offset of the compressed content
}

func (h header) isDelta() bool { return h.typ == typeOffsetDelta || h.typ == typeRefDelta }

// maxChain is how many deltas may depend on each other. git's default is 50, and pack.depth
// allows 4095 at most. The limit also ends a chain that is a circle.
const maxChain = 4096

// Read returns the object at a place. If it, or one of its bases, is larger than limit bytes, the
// result is ErrLarge. The content stays valid.
//
// It follows the chain of deltas down to a whole object or to one in the cache, and then applies
// the deltas in reverse order. Every object on the way goes into the cache.
func (r *Reader) Read(at Place, limit int64) (Object, error) {
	p, offset := at.pack, at.offset
	var deltas []header
	defer func() { r.below = false }()
	var o Object
	for {
		if have, ok := r.bases.get(Place{p, offset}); ok {
			o = have
			break
		}
		h, err := r.header(p, offset)
		if err != nil || len(deltas) > maxChain {
			return Object{}, ErrUseGit
		}
		if h.size > limit {
			return Object{}, ErrLarge
		}
		if !h.isDelta() {
			o = Object{Type: typeNames[h.typ], Size: h.size, Data: make([]byte, h.size)}
			if err := r.content(p, h.data, o.Data); err != nil {
				return Object{}, ErrUseGit
			}
			r.bases.put(Place{p, offset}, o)
			break
		}
		deltas = append(deltas, header{h.typ, h.size, offset, h.data})
		offset, r.below = h.base, true
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		d := deltas[i]
		r.below = i > 0
		delta := r.room(d.size)
		if err := r.content(p, d.data, delta); err != nil {
			return Object{}, ErrUseGit
		}
		data, err := patch(o.Data, delta, limit)
		if err != nil {
			return Object{}, err
		}
		o.Data, o.Size = data, int64(len(data))
		// In deltas, base is the offset of the delta's own entry.
		r.bases.put(Place{p, d.base}, o)
	}
	if o.Size > limit {
		return Object{}, ErrLarge
	}
	return o, nil
}

// Info returns the type and the size of an object without its content. The size of a delta's result
// is at its beginning, so one entry is inflated, and for the type only headers are read.
func (r *Reader) Info(at Place, limit int64) (Object, error) {
	if have, ok := r.bases.get(at); ok {
		return Object{Type: have.Type, Size: have.Size}, nil
	}
	h, err := r.header(at.pack, at.offset)
	if err != nil {
		return Object{}, ErrUseGit
	}
	o := Object{Size: h.size}
	if h.isDelta() {
		if h.size > limit {
			return Object{}, ErrUseGit
		}
		delta := r.room(h.size)
		if err := r.content(at.pack, h.data, delta); err != nil {
			return Object{}, ErrUseGit
		}
		_, rest, ok := varint(delta)
		size, _, ok2 := varint(rest)
		if !ok || !ok2 {
			return Object{}, ErrUseGit
		}
		o.Size = size
	}
	for depth := 0; h.isDelta(); depth++ {
		if have, ok := r.bases.get(Place{at.pack, h.base}); ok {
			o.Type = have.Type
			return o, nil
		}
		if h, err = r.header(at.pack, h.base); err != nil || depth > maxChain {
			return Object{}, ErrUseGit
		}
	}
	o.Type = typeNames[h.typ]
	return o, nil
}

// room returns memory for a delta, which is valid until the next call.
func (r *Reader) room(size int64) []byte {
	if int64(cap(r.scratch)) < size {
		r.scratch = make([]byte, size, size+size/2)
	}
	return r.scratch[:size]
}

// header reads the header of the entry at offset. The first byte holds the type in three bits and
// the lowest four bits of the size; each following byte has seven more bits, and the highest bit
// says whether another byte follows.
func (r *Reader) header(p *pack, offset int64) (header, error) {
	const maxHeader = 10 + 10 + 32 // an upper bound for the bytes of a header: the size, and an offset or an id
	b, err := r.bytes(p, offset, maxHeader)
	if err != nil || len(b) == 0 {
		return header{}, ErrUseGit
	}
	h := header{typ: b[0] >> 4 & 7, size: int64(b[0] & 0x0f)}
	n := 1
	for shift := 4; b[n-1]&0x80 != 0; shift += 7 {
		if n == len(b) || shift > 56 {
			return header{}, ErrUseGit
		}
		h.size |= int64(b[n]&0x7f) << shift
		n++
	}
	switch h.typ {
	case typeOffsetDelta:
		back, used, ok := Distance(b[n:])
		if !ok || back == 0 || back > offset {
			return header{}, ErrUseGit
		}
		h.base = offset - back
		n += used
	case typeRefDelta:
		if len(b) < n+p.hashLen {
			return header{}, ErrUseGit
		}
		base, ok := p.index.find(b[n : n+p.hashLen])
		if !ok {
			return header{}, ErrUseGit
		}
		h.base = base
		n += p.hashLen
	case 1, 2, 3, 4:
	default:
		return header{}, ErrUseGit
	}
	h.data = offset + int64(n)
	return h, nil
}

// Distance decodes how far before a delta its base begins, which is also how version 4 of an index has
// numbers: seven bits per byte, the highest first. One is added for each further byte, so that every
// number has one encoding only.
func Distance(b []byte) (back int64, used int, ok bool) {
	for used < len(b) && used < 9 {
		c := b[used]
		used++
		if used > 1 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, used, back >= 0
		}
	}
	return 0, 0, false
}

// content inflates the stream that begins at offset. It must fill out exactly. The length of the
// stream is not recorded anywhere, so a guess is read first, and the largest possible length if
// that was too short.
func (r *Reader) content(p *pack, offset int64, out []byte) error {
	b, err := r.bytes(p, offset, min(int64(len(out)), guessed)+spare)
	if err != nil {
		return err
	}
	if _, err = r.inflater.inflate(out, b); !errors.Is(err, errShort) {
		return err
	}
	if b, err = r.bytes(p, offset, compressed(int64(len(out)))); err != nil {
		return err
	}
	_, err = r.inflater.inflate(out, b)
	return err
}

// compressed returns an upper bound for the length of a zlib stream of size bytes: data that does
// not compress is stored in blocks, with a few bytes for each.
func compressed(size int64) int64 { return size + size>>10 + spare }

// Amounts to read from a pack, in bytes.
const (
	guessed = 4 << 10   // how much compressed content is read at first
	spare   = 64        // added for the header and the checksum of the stream
	ahead   = 128 << 10 // the most that is read at once while reads are sequential
)

// bytes returns the bytes of a pack from offset on, at least least of them unless the entries end
// before. The result is valid until the next call. Bases have a window of their own: they may be
// far from the objects, and a single window would jump back and forth.
func (r *Reader) bytes(p *pack, offset, least int64) ([]byte, error) {
	if offset < packHeader || offset >= p.end {
		return nil, ErrUseGit
	}
	least = min(least, p.end-offset)
	w := &r.ahead
	if have := w.has(p, offset, least); have != nil {
		return have, nil
	}
	if r.below {
		w = &r.aside
		if have := w.has(p, offset, least); have != nil {
			return have, nil
		}
	}
	return w.load(p, offset, least)
}

// has returns the bytes in the window from offset on, or nil if there are fewer than least.
func (w *window) has(p *pack, offset, least int64) []byte {
	if w.of != p || offset < w.from || offset+least > w.from+int64(len(w.data)) {
		return nil
	}
	return w.data[offset-w.from:]
}

// load moves the window to offset. Its size doubles, up to ahead, while each read continues near
// the end of the one before, and is small again otherwise, since bytes that are not used were
// read in vain.
func (w *window) load(p *pack, offset, least int64) ([]byte, error) {
	if end := w.from + int64(len(w.data)); w.of == p && offset >= w.from && offset < end+guessed {
		w.size = min(2*w.size, ahead)
	} else {
		w.size = guessed
	}
	n := min(max(least, w.size), p.end-offset)
	if int64(cap(w.data)) < n {
		w.data = make([]byte, n)
	}
	w.of, w.from, w.data = p, offset, w.data[:n]
	if _, err := p.file.ReadAt(w.data, offset); err != nil {
		w.of = nil
		return nil, err
	}
	return w.data, nil
}
