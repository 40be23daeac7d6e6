package git

import (
	"context"
	"fmt"

	"git-checkpoint/internal/name"
)

// Bounds of what is kept and of what is looked for here: where many objects are
// asked for, git is as fast, and reads packs too.
const (
	maxLocal     = 64
	maxKeptSize  = 64 << 10
	maxKeptBytes = 8 << 20
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

// here gives an object without git. Whether one is still there only the disk knows.
func (b *Batch) here(verb, spec string) (Object, bool) {
	oid := name.OID(spec)
	if len(spec) != 2*b.repo.HashLen() || !isHex(spec) {
		return Object{}, false
	}
	if verb == "info" {
		o, err := b.loose.info(oid)
		return o, err == nil
	}
	b.known.Lock()
	o, ok := b.kept[oid]
	b.known.Unlock()
	if ok {
		return o, true
	}
	o, err := b.loose.read(oid)
	if err == nil {
		b.keep(o)
	}
	return o, err == nil
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// askHere answers what it can itself and lets git answer the rest in one exchange;
// each gets all of it in order. A loose object that is damaged may be whole in a pack:
// what git finds of a name that stood here is held against its id.
func (b *Batch) askHere(ctx context.Context, verb string, specs []string, each func(int, Object, error) error) error {
	found := make(map[int]Object, len(specs))
	var rest []string
	var at []int
	for i, s := range specs {
		if o, ok := b.here(verb, s); ok {
			found[i] = o
			continue
		}
		rest, at = append(rest, s), append(at, i)
	}
	next := 0
	upTo := func(end int) error {
		for ; next < end; next++ {
			if err := each(next, found[next], nil); err != nil {
				return err
			}
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

// check holds content against the id that was asked for.
func (b *Batch) check(spec string, o Object) error {
	if oid := name.OID(spec); oid == o.OID && HashObject(b.repo.Format, o.Type, o.Data) != oid {
		return fmt.Errorf("object %q: %w", spec, ErrUnreadable)
	}
	return nil
}
