package git

import (
	"context"
	"encoding/hex"
	"slices"

	"git-checkpoint/internal/format/name"
)

// Missing returns those of the ids that name no object in this repository or its alternates. Empty
// ids do not count. An object in a pack counts as present without a look at its content; of a loose
// one, type and size must be readable.
func (b *Batch) Missing(ctx context.Context, oids []name.OID) (map[name.OID]bool, error) {
	missing := map[name.OID]bool{}
	if len(oids) == 0 {
		return missing, ctx.Err()
	}
	var specs []string
	b.objects.packs.Refresh()
	r := b.objects.borrow()
	for _, oid := range oids {
		if oid == "" {
			continue
		}
		if _, packed := b.objects.packs.Find(oid); packed {
			continue
		}
		// Not in a pack and not readable as a loose object: git knows about alternates, new packs
		// and promisors.
		if _, err := r.info(located{oid: oid}); err != nil {
			specs = append(specs, string(oid))
		}
	}
	b.objects.giveBack(r)
	if len(specs) == 0 {
		return missing, ctx.Err()
	}
	err := b.exchange(ctx, nil, specs, func(i int, _ Object, err error) error {
		if err != nil {
			missing[name.OID(specs[i])] = true
		}
		return nil
	})
	return missing, err
}

// Absent returns the ids of objects that are in no pack and have no loose file. It opens no object, so it
// is meant for those that this process has written or read itself.
func (b *Batch) Absent(oids []name.OID) []name.OID {
	b.objects.packs.Refresh()
	return slices.DeleteFunc(slices.Clone(oids), func(oid name.OID) bool { return oid == "" || b.Has(oid) })
}

// Has reports whether an object is in a pack that is known so far, or has a loose file. It does not
// open it.
func (b *Batch) Has(oid name.OID) bool {
	_, packed := b.objects.packs.Find(oid)
	return packed || b.objects.loose.has(oid)
}

// Present reports for each list whether all its objects exist in a pack or as a loose file. A list
// is a string of binary ids, one directly after the other. No object is opened. For an empty list
// the result is false.
func (b *Batch) Present(lists []string) []bool {
	b.objects.packs.Refresh()
	all := make([]bool, len(lists))
	for i, ids := range lists {
		all[i] = ids != ""
		for len(ids) > 0 && all[i] {
			n := min(b.at.HashLen(), len(ids))
			all[i] = b.objects.packs.Has([]byte(ids[:n])) || b.objects.loose.has(name.OID(hex.EncodeToString([]byte(ids[:n]))))
			ids = ids[n:]
		}
	}
	return all
}
