package git

import (
	"context"
	"fmt"

	"git-checkpoint/internal/name"
)

// Bounds of what is kept, and of what one reader reads before it is handed on.
const (
	maxKeptSize  = 64 << 10
	maxKeptBytes = 8 << 20
	maxTogether  = 8 << 20
)

// keep remembers an object, so that it is read but once. Objects never change.
func (b *Batch) keep(o Object) {
	b.known.Lock()
	defer b.known.Unlock()
	if _, twice := b.kept[o.OID]; twice || o.Size > maxKeptSize || b.keptBytes+o.Size > maxKeptBytes {
		return
	}
	b.kept[o.OID] = o
	b.keptBytes += o.Size
}

func (b *Batch) recall(oid name.OID) (Object, bool) {
	b.known.Lock()
	defer b.known.Unlock()
	o, ok := b.kept[oid]
	return o, ok
}

// askHere answers what it can itself and lets git answer the rest in one exchange;
// each gets all of it in order. An object that is damaged in one place may be whole in
// another: what git finds of a name that stood here is held against its id.
func (b *Batch) askHere(ctx context.Context, verb string, specs []string, each func(int, Object, error) error) error {
	found, rest, at := b.readHere(verb, specs)
	next := 0
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
		err := b.exchange(ctx, verb, rest, func(i int, o Object, err error) error {
			if err := upTo(at[i]); err != nil {
				return err
			}
			next++
			if err == nil && verb == "contents" {
				if err = b.check(rest[i], o); err == nil {
					b.keep(o)
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

// readHere reads what can be read in process, and lists the rest and where it stands.
func (b *Batch) readHere(verb string, specs []string) (found []Object, rest []string, at []int) {
	found = make([]Object, len(specs))
	b.objects.apart(len(specs), func(r *reader, from, to int) {
		room := int64(maxTogether)
		oids := make([]name.OID, 0, to-from)
		for _, s := range specs[from:to] {
			if len(s) != 2*b.repo.HashLen() || !name.IsHex(s) {
				s = "" // no id
			}
			oids = append(oids, name.OID(s))
		}
		for _, l := range r.locate(oids) {
			o, err := b.here(r, verb, l, min(maxHere, room))
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

// here gives an object without git. Whether one is still there only the disk knows.
func (b *Batch) here(r *reader, verb string, l located, limit int64) (Object, error) {
	if verb == "info" {
		return r.info(l)
	}
	if o, ok := b.recall(l.oid); ok {
		return o, nil
	}
	o, err := r.read(l, limit)
	if err == nil {
		b.keep(o)
	}
	return o, err
}

// check holds content against the id that was asked for.
func (b *Batch) check(spec string, o Object) error {
	if oid := name.OID(spec); oid == o.OID && HashObject(b.repo.Format, o.Type, o.Data) != oid {
		return fmt.Errorf("object %q: %w", spec, ErrUnreadable)
	}
	return nil
}
