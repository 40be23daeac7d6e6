package snapshot

// A file that git converts is given to its filter and read again, and checked out for a comparison.
// That takes long for large files, so the result is remembered in a hashCache, as for other files:
// by path and stat data, and by everything else that decides about a conversion.

import (
	"context"
	"slices"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// conversions is the hashCache of the converted files in one capture.
type conversions struct {
	shot   *hasher
	c      *Capture
	digest string // of settings and attributes, see conversionDigest
}

// blob and raw return names for the key of what a file became: its blob, and its exact bytes where
// git would not check these out. A file's staged version can decide about its line endings.
func (m *conversions) blob(f candidate) string {
	return m.digest + string(f.index.OID) + "\x00" + f.path
}
func (m *conversions) raw(f candidate) string { return "raw " + m.blob(f) }

// recall records those of files that are converted and known, and returns the others.
func (m *conversions) recall(ctx context.Context, files []candidate, converted map[string]filtered) ([]candidate, error) {
	known, raw := map[string]git.Entry{}, map[string]cachedHash{}
	for _, f := range files {
		if _, is := converted[f.path]; !is || f.info == nil || f.database {
			continue
		}
		made, ok := m.c.hashes.find(m.blob(f), f.info)
		if ok && made.cr {
			raw[f.path], ok = m.c.hashes.find(m.raw(f), f.info)
			ok = ok && m.shot.repo.Objects.Batch().Has(raw[f.path].oid)
		}
		if ok && m.shot.repo.Objects.Batch().Has(made.oid) {
			known[f.path] = git.Entry{Mode: f.mode, OID: made.oid}
		}
	}
	gone, err := m.shot.provide(ctx, known)
	for _, n := range gone {
		delete(known, n.Path) // the filter stores the content again
	}
	return slices.DeleteFunc(files, func(f candidate) bool {
		e, ok := known[f.path]
		if !ok {
			return false
		}
		m.c.record(f.path, e)
		if m.c.look != nil {
			m.c.look(f.path, e.OID, nil)
		}
		bytes, has := raw[f.path]
		if has {
			m.c.Raw[f.path] = bytes.oid
			m.c.New = append(m.c.New, bytes.oid)
			m.c.hashes.add(m.raw(f), f.info, bytes)
		}
		m.c.hashes.add(m.blob(f), f.info, cachedHash{oid: e.OID, cr: has})
		return true
	}), err
}

// remember keeps what files became. A file that is at risk is looked at each time.
func (m *conversions) remember(files []candidate, entries map[string]git.Entry) {
	atRisk := gather.Set(m.c.AtRisk, func(r Skip) string { return r.Path })
	for _, f := range files {
		e := entries[f.path]
		now, err := m.shot.files.Lstat(f.path)
		if e.Mode != f.mode || f.info == nil || atRisk[f.path] || err != nil || now == nil || !worktree.Same(now, f.info) {
			continue
		}
		raw, has := m.c.Raw[f.path]
		if has {
			m.c.hashes.add(m.raw(f), f.info, cachedHash{oid: raw})
		}
		m.c.hashes.add(m.blob(f), f.info, cachedHash{oid: e.OID, cr: has})
	}
}
