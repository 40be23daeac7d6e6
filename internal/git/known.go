package git

import (
	"context"
	"fmt"

	"git-checkpoint/internal/format/name"
)

// Limits in bytes. maxKeptSize is the size of the largest object that is kept in memory, and
// maxKeptBytes is that of all of them together. maxTogether is how much content one reader reads
// before it is handed on; what goes beyond it is left to git.
const (
	maxKeptSize  = 64 << 10
	maxKeptBytes = 8 << 20
	maxTogether  = 8 << 20
)

// remember remembers a small object, so that it is read only once. That is safe because the content of
// an id never changes. Nothing is ever dropped: when maxKeptBytes is reached, no more objects are
// kept.
func (b *Batch) remember(o Object) {
	b.known.Lock()
	defer b.known.Unlock()
	if _, twice := b.kept[o.OID]; twice || o.Size > maxKeptSize || b.keptBytes+o.Size > maxKeptBytes {
		return
	}
	b.kept[o.OID] = o
	b.keptBytes += o.Size
}

// recall returns an object that remember has kept.
func (b *Batch) recall(oid name.OID) (Object, bool) {
	b.known.Lock()
	defer b.known.Unlock()
	o, ok := b.kept[oid]
	return o, ok
}

// askHere answers what can be read in this process, and has git answer the rest in one exchange. It
// calls each for all of them, in the order of specs.
//
// An object that is damaged in one place may be intact in another one, where git finds it. So
// content that git returns for an id is checked against the id too.
func (b *Batch) askHere(ctx context.Context, read contentReader, specs []string, each func(int, Object, error) error) error {
	found, rest, at := b.readHere(read == nil, specs)
	next := 0
	// upTo hands out what was read here, up to an index. It drops each object afterwards, to free
	// memory.
	upTo := func(end int) error {
		for ; next < end; next++ {
			if err := each(next, found[next], nil); err != nil {
				return err
			}
			found[next] = Object{}
		}
		return nil
	}
	if len(rest) > 0 {
		err := b.exchange(ctx, read, rest, func(i int, o Object, err error) error {
			if err := upTo(at[i]); err != nil {
				return err
			}
			next++
			if err == nil && read != nil {
				if err = b.check(rest[i], o); err == nil {
					b.remember(o)
				}
			}
			return each(at[i], o, err)
		})
		if err != nil {
			return err
		}
	}
	return upTo(len(specs))
}

// readHere reads what can be read in this process. found has the same length as specs; an Object
// with an empty OID was not found. rest lists the specs that git has to answer, and at their
// indexes in specs.
func (b *Batch) readHere(info bool, specs []string) (found []Object, rest []string, at []int) {
	found = make([]Object, len(specs))
	b.objects.inChunks(len(specs), func(r *reader, from, to int) {
		room := int64(maxTogether)
		oids := make([]name.OID, 0, to-from)
		for _, s := range specs[from:to] {
			if len(s) != 2*b.at.HashLen() || !name.IsHex(s) {
				s = "" // not an id, perhaps a ref name; locate skips it
			}
			oids = append(oids, name.OID(s))
		}
		for _, l := range r.locate(oids) {
			o, err := b.readOne(r, info, l, min(maxHere, room))
			if err == nil {
				found[from+l.index] = o
				room -= int64(len(o.Data))
			}
		}
	})
	for i, o := range found {
		if o.OID == "" {
			rest, at = append(rest, specs[i]), append(at, i)
		}
	}
	return found, rest, at
}

// readOne returns one object without git. For type and size the objects that remember has kept do not
// count: the caller asks whether the object is still on disk.
func (b *Batch) readOne(r *reader, info bool, l located, limit int64) (Object, error) {
	if info {
		return r.info(l)
	}
	if o, ok := b.recall(l.oid); ok {
		return o, nil
	}
	o, err := r.read(l, limit)
	if err == nil {
		b.remember(o)
	}
	return o, err
}

// check compares the content of an object with the id that was asked for. A spec that is not an id
// names something else, and there is nothing to compare.
func (b *Batch) check(spec string, o Object) error {
	if oid := name.OID(spec); oid == o.OID && HashObject(b.at.Format, o.Type, o.Data) != oid {
		return fmt.Errorf("object %q: %w", spec, ErrUnreadable)
	}
	return nil
}
