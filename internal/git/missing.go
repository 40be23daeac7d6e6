package git

import (
	"context"
	"encoding/hex"
	"slices"

	"git-checkpoint/internal/name"
)

// Missing lists those of the ids that name no object here.
func (b *Batch) Missing(ctx context.Context, oids []name.OID) (map[name.OID]bool, error) {
	missing := map[name.OID]bool{}
	if len(oids) == 0 {
		return missing, ctx.Err()
	}
	var specs []string
	var before [4]name.OID // one checkpoint after the other needs the same
	b.objects.packs.Refresh()
	r := b.objects.borrow()
	for i, oid := range oids {
		if oid == "" || slices.Contains(before[:], oid) {
			continue
		}
		before[i%len(before)] = oid
		if _, packed := b.objects.packs.Find(oid); packed {
			continue
		}
		if _, err := r.info(located{oid: oid}); err != nil {
			specs = append(specs, string(oid))
		}
	}
	b.objects.giveBack(r)
	if len(specs) == 0 {
		return missing, ctx.Err()
	}
	err := b.exchange(ctx, "info", specs, func(i int, _ Object, err error) error {
		if err != nil {
			missing[name.OID(specs[i])] = true
		}
		return nil
	})
	return missing, err
}

// NotLoose leaves those of the ids out that have a file of their own, by its look
// alone: enough for what this process has written or read.
func (b *Batch) NotLoose(oids []name.OID) []name.OID {
	return slices.DeleteFunc(slices.Clone(oids), func(oid name.OID) bool { return oid != "" && b.objects.loose.has(oid) })
}

// Present reports of lists of ids, each the ids as bytes one behind the other, whether all
// of a list have a place in a pack or a file of their own, by its look alone. An empty list
// has none.
func (b *Batch) Present(lists []string) []bool {
	b.objects.packs.Refresh()
	all := make([]bool, len(lists))
	for i, ids := range lists {
		all[i] = ids != ""
		for len(ids) > 0 && all[i] {
			n := min(b.repo.HashLen(), len(ids))
			all[i] = b.objects.packs.Has([]byte(ids[:n])) || b.objects.loose.has(name.OID(hex.EncodeToString([]byte(ids[:n]))))
			ids = ids[n:]
		}
	}
	return all
}
