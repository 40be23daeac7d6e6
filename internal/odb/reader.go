package odb

import "errors"

// Object is what stands under an id. Its content is shared, and must not be changed.
type Object struct {
	Type string
	Size int64
	Data []byte // nil from Info
}

// Reader reads objects. It keeps what it read last, because one object is often made from
// another; it is for one goroutine at a time.
type Reader struct {
	inflater inflater
	bases    bases
	ahead    window // where objects are that are asked for, mostly one behind the other
	aside    window // where the ones are that they are made from
	below    bool   // one of these is being read
	scratch  []byte // a delta, or a loose object's file
	whole    []byte // what a loose one holds
	deltas   []header
}

// window is what was read of a pack, from an offset on.
type window struct {
	data []byte
	of   *pack
	from int64
	size int64 // of what is read at once
}

// The types of entries. What a delta makes has the type of what it is made from.
const (
	typeOffsetDelta = 6
	typeRefDelta    = 7
)

// typeNames are those of objects.
var typeNames = [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// header is the beginning of an entry.
type header struct {
	typ  byte
	size int64
	base int64 // of a delta: the offset of what it is made from
	data int64 // the offset of the compressed content
}

func (h header) isDelta() bool { return h.typ == typeOffsetDelta || h.typ == typeRefDelta }

// maxHeader is more than the header of an entry can have: a size, and an offset or an id.
const maxHeader = 10 + 10 + 32

// maxChain is how many deltas may hang on each other; git makes 50, or what it is told to,
// up to 4095.
const maxChain = 4096

// Read gives an object of at most limit bytes, which goes for what it is made from too.
func (r *Reader) Read(at Place, limit int64) (Object, error) {
	o, err := r.Peek(at, limit)
	r.bases.give(at.pack, at.offset)
	return o, err
}

// Peek is Read of content that is good until something else is read.
func (r *Reader) Peek(at Place, limit int64) (Object, error) {
	p, offset := at.pack, at.offset
	deltas := r.deltas[:0]
	defer func() { r.deltas, r.below = deltas, false }()
	var o Object
	for {
		if have, ok := r.bases.get(p, offset); ok {
			o = have
			break
		}
		h, err := r.header(p, offset)
		if err != nil || len(deltas) > maxChain {
			return Object{}, ErrElsewhere
		}
		if h.size > limit {
			return Object{}, ErrLarge
		}
		if !h.isDelta() {
			o = Object{Type: typeNames[h.typ], Size: h.size, Data: r.bases.room(h.size)}
			if err := r.content(p, h.data, o.Data); err != nil {
				return Object{}, ErrElsewhere
			}
			r.bases.put(p, offset, o)
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
			return Object{}, ErrElsewhere
		}
		data, err := patch(o.Data, delta, limit, r.bases.room)
		if err != nil {
			return Object{}, err
		}
		o.Data, o.Size = data, int64(len(data))
		r.bases.put(p, d.base, o) // which is where it stands itself
	}
	if o.Size > limit {
		return Object{}, ErrLarge
	}
	return o, nil
}

// Info gives type and size of an object.
func (r *Reader) Info(at Place, limit int64) (Object, error) {
	if have, ok := r.bases.get(at.pack, at.offset); ok {
		return Object{Type: have.Type, Size: have.Size}, nil
	}
	h, err := r.header(at.pack, at.offset)
	if err != nil {
		return Object{}, ErrElsewhere
	}
	o := Object{Size: h.size}
	if h.isDelta() {
		if h.size > limit {
			return Object{}, ErrElsewhere
		}
		delta := r.room(h.size)
		if err := r.content(at.pack, h.data, delta); err != nil {
			return Object{}, ErrElsewhere
		}
		_, rest, ok := varint(delta)
		size, _, ok2 := varint(rest)
		if !ok || !ok2 {
			return Object{}, ErrElsewhere
		}
		o.Size = size
	}
	for depth := 0; h.isDelta(); depth++ {
		if have, ok := r.bases.get(at.pack, h.base); ok {
			o.Type = have.Type
			return o, nil
		}
		if h, err = r.header(at.pack, h.base); err != nil || depth > maxChain {
			return Object{}, ErrElsewhere
		}
	}
	o.Type = typeNames[h.typ]
	return o, nil
}

// room is memory for a delta, good until the next one.
func (r *Reader) room(size int64) []byte {
	if int64(cap(r.scratch)) < size {
		r.scratch = make([]byte, size, size+size/2)
	}
	return r.scratch[:size]
}

// header reads the beginning of the entry at an offset.
func (r *Reader) header(p *pack, offset int64) (header, error) {
	b, err := r.bytes(p, offset, maxHeader)
	if err != nil || len(b) == 0 {
		return header{}, ErrElsewhere
	}
	h := header{typ: b[0] >> 4 & 7, size: int64(b[0] & 0x0f)}
	n := 1
	for shift := 4; b[n-1]&0x80 != 0; shift += 7 {
		if n == len(b) || shift > 56 {
			return header{}, ErrElsewhere
		}
		h.size |= int64(b[n]&0x7f) << shift
		n++
	}
	switch h.typ {
	case typeOffsetDelta:
		back, used, ok := distance(b[n:])
		if !ok || back > offset {
			return header{}, ErrElsewhere
		}
		h.base = offset - back
		n += used
	case typeRefDelta:
		if len(b) < n+p.hashLen {
			return header{}, ErrElsewhere
		}
		base, ok := p.index.find(b[n : n+p.hashLen])
		if !ok {
			return header{}, ErrElsewhere
		}
		h.base = base
		n += p.hashLen
	case 1, 2, 3, 4:
	default:
		return header{}, ErrElsewhere
	}
	h.data = offset + int64(n)
	return h, nil
}

// distance is how far before itself a delta's base begins: seven bits a byte, the highest
// first, each further byte adding one.
func distance(b []byte) (back int64, used int, ok bool) {
	for used < len(b) && used < 9 {
		c := b[used]
		used++
		if used > 1 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, used, back > 0
		}
	}
	return 0, 0, false
}

// content inflates what begins at an offset and has to fill out.
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

// compressed is more than a stream of so many bytes has: what does not compress at all is
// stored in blocks, with a few bytes for each.
func compressed(size int64) int64 { return size + size>>10 + spare }

// Reading from a pack: so much of content is read at first, for what else a stream has, and
// at once where one entry is read after the other.
const (
	guessed = 4 << 10
	spare   = 64
	ahead   = 128 << 10
)

// bytes gives what a pack has at an offset, at least so much of it as asked for unless the
// entries end before. It is good until the next call.
func (r *Reader) bytes(p *pack, offset, least int64) ([]byte, error) {
	if offset < packHeader || offset >= p.end {
		return nil, ErrElsewhere
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

// has gives what the window has from an offset on, nil when that is less than least.
func (w *window) has(p *pack, offset, least int64) []byte {
	if w.of != p || offset < w.from || offset+least > w.from+int64(len(w.data)) {
		return nil
	}
	return w.data[offset-w.from:]
}

// load moves the window to an offset. It grows while each goes on where the one before
// ended: what is not used was read in vain.
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
