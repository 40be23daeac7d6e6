package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// maxPacks is up to how many packs are looked into here; git keeps far fewer.
const maxPacks = 64

// packIndexes lists the indexes of the packs that are there.
func (d *looseDir) packIndexes() []string {
	packs, err := filepath.Glob(filepath.Join(d.dir, "pack", "pack-*.idx"))
	if err != nil || len(packs) > maxPacks {
		return nil
	}
	return packs
}

// packed reports whether an object stands in a pack's index. A pack that is read in
// another way, or that vanishes meanwhile, holds nothing here: git is asked.
func (d *looseDir) packed(oid name.OID, indexes []string) bool {
	want, err := hex.DecodeString(string(oid))
	if err != nil {
		return false
	}
	for _, path := range indexes {
		if _, err := os.Lstat(strings.TrimSuffix(path, ".idx") + ".pack"); err != nil {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		found := inPackIndex(f, want)
		f.Close() //nolint:errcheck // read only
		if found {
			return true
		}
	}
	return false
}

// inPackIndex searches an index of version 2: a magic number, the version, for each
// first byte how many ids are not above it, and the ids in order.
func inPackIndex(f io.ReaderAt, want []byte) bool {
	const fanout = 8
	var head [fanout]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:4]) != "\xfftOc" || binary.BigEndian.Uint32(head[4:]) != 2 {
		return false
	}
	var bounds [8]byte // of the first byte before, and of this one
	at := int64(fanout) + 4*int64(want[0])
	if want[0] == 0 {
		if _, err := f.ReadAt(bounds[4:], at); err != nil {
			return false
		}
	} else if _, err := f.ReadAt(bounds[:], at-4); err != nil {
		return false
	}
	lo, hi := int64(binary.BigEndian.Uint32(bounds[:4])), int64(binary.BigEndian.Uint32(bounds[4:]))
	have := make([]byte, len(want))
	for lo < hi {
		mid := lo + (hi-lo)/2
		if _, err := f.ReadAt(have, fanout+256*4+mid*int64(len(want))); err != nil {
			return false
		}
		switch c := bytes.Compare(have, want); {
		case c == 0:
			return true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}

// Missing lists those of the ids that name no object here, each once.
func (b *Batch) Missing(ctx context.Context, oids []name.OID) (map[name.OID]bool, error) {
	missing := map[name.OID]bool{}
	var specs []string
	seen := make(map[name.OID]bool, len(oids))
	for _, oid := range oids {
		if oid != "" && !seen[oid] {
			seen[oid] = true
			specs = append(specs, string(oid))
		}
	}
	if len(specs) <= maxLocal {
		specs = b.notSeen(specs)
	}
	if len(specs) == 0 {
		return missing, nil
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
	return slices.DeleteFunc(slices.Clone(oids), func(oid name.OID) bool { return oid != "" && b.loose.has(oid) })
}

// notSeen are the specs that are neither loose nor in the index of a pack.
func (b *Batch) notSeen(specs []string) []string {
	indexes := sync.OnceValue(b.loose.packIndexes)
	var out []string
	for _, s := range specs {
		if _, ok := b.here("info", s); !ok && !b.loose.packed(name.OID(s), indexes()) {
			out = append(out, s)
		}
	}
	return out
}
