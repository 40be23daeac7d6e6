package snapshot

// The index cannot tell whether a converted file still has the bytes that git would check out. If
// a tracked file with `text` changes from LF to CRLF, its blob stays the same and git calls it
// unchanged, but a rollback from the blob would write LF. keepUnchanged finds such files and
// keeps their exact bytes in Capture.Raw. Comparing every file each time would be slow, so the
// files that were found exact are remembered in the hashCache, by conversionDigest.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// keepUnchanged checks the files that the index calls unchanged, and adds those to c.Raw that git
// would not check out byte for byte. Take calls it only if git may convert content here, or once
// did.
func (s *hasher) keepUnchanged(ctx context.Context, private *privateIndex, c *Capture) error {
	digest := s.conversionDigest(private, c)
	var open []candidate
	entries := map[string]git.Entry{}
	keys := map[string]versionKey{}
	present := gather.SetOf(private.state.SparsePresent)
	for _, e := range private.entries {
		if e.Stage > 0 || !regular(e.Mode) || e.SkipWorktree && !present[e.Path] || e.IntentToAdd || c.Touched[e.Path] {
			continue
		}
		oid := private.index.OIDOf(e)
		f := candidate{path: e.Path, mode: e.Mode, size: int64(e.Size)}
		version := e
		version.Path = "exact " + string(digest[:]) + e.Path
		switch key := keyOf(version, oid); {
		case present[e.Path]:
			// git keeps no stat data of these, so nothing identifies the version, and it is not
			// remembered.
			f.size = math.MaxUint32
		case c.hashes.recall(key):
			continue
		default:
			keys[e.Path] = key
		}
		open = append(open, f)
		entries[e.Path] = git.Entry{Mode: e.Mode, OID: oid}
	}
	if len(open) == 0 {
		return nil
	}
	affected, err := s.affected(ctx, private.path, private.attrs, open)
	if err != nil {
		return err
	}
	affected = append(affected, unaffected(open, affected)...)
	doubtful, err := s.doubtful(ctx, affected, entries)
	if err != nil {
		return err
	}
	if err := s.keepRawOf(ctx, private.path, doubtful, entries, c); err != nil {
		return err
	}
	// What is not in Raw was found exact.
	for p, key := range keys {
		if _, raw := c.Raw[p]; !raw {
			c.hashes.keep(key, cachedHash{oid: entries[p].OID})
		}
	}
	if !s.convertedBefore() {
		os.WriteFile(s.convertedMark(), nil, s.repo.Settings.PrivateMode()) //nolint:errcheck // the next capture tries again
	}
	return nil
}

// convertedBefore reports whether git once converted content here. A file that was converted by
// attributes that are now gone still counts as unchanged.
func (s *hasher) convertedBefore() bool {
	_, err := os.Lstat(s.convertedMark())
	return err == nil
}

// convertedMark is the file that says so. Earlier versions kept in it what the hashCache has now.
func (s *hasher) convertedMark() string { return filepath.Join(s.dir, "exact") }

// unaffected returns the files that no attribute applies to. They are marked inOnly: such a file
// is exact if it has the size of its blob.
func unaffected(files []candidate, affected []filtered) []filtered {
	converted := gather.Set(affected, func(f filtered) string { return f.path })
	var out []filtered
	for _, f := range files {
		if !converted[f.path] {
			f.inOnly = true
			out = append(out, filtered{candidate: f})
		}
	}
	return out
}

// doubtful returns the files whose bytes must be compared. If the only conversion is from CRLF to
// LF on the way into the repository, every converted line makes the blob smaller, so a file that
// has the size of its blob was not converted.
func (s *hasher) doubtful(ctx context.Context, files []filtered, entries map[string]git.Entry) ([]filtered, error) {
	var out, plain []filtered
	for _, f := range files {
		if f.inOnly {
			plain = append(plain, f)
		} else {
			out = append(out, f)
		}
	}
	specs := gather.List(plain, func(f filtered) string { return string(entries[f.path].OID) })
	err := s.repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err != nil || int64(uint32(o.Size)) != plain[i].size {
			out = append(out, plain[i])
		}
		return nil
	})
	return out, err
}

// versionKey identifies one version of a file by its index entry: path, blob, mode and stat data.
// It is the first half of a SHA-256 hash.
type versionKey [16]byte

// keyOf returns the key of an entry with the id oid, which is empty for a file that is not in the index.
func keyOf(e git.IndexEntry, oid name.OID) versionKey {
	b := append(append(append(make([]byte, 0, 256), e.Path...), 0), oid...)
	for _, v := range []uint32{uint32(e.Mode), e.Size, e.MtimeSec, e.MtimeNsec, e.CtimeSec, e.CtimeNsec, e.Inode} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	sum := sha256.Sum256(b)
	return versionKey(sum[:16])
}

// conversionDigest hashes everything that decides how git converts content: settings, filters,
// and the content of all attributes files, in the worktree and outside of it.
func (s *hasher) conversionDigest(private *privateIndex, c *Capture) (sum [32]byte) {
	h := sha256.New()
	for _, key := range []string{"core.autocrlf", "core.eol", "core.attributesFile", "core.checkRoundtripEncoding"} {
		fmt.Fprintf(h, "%s=%q\n", key, s.repo.Config.All(key))
	}
	for _, key := range slices.Sorted(slices.Values(s.repo.Config.Keys("filter."))) {
		fmt.Fprintf(h, "%s=%q\n", key, s.repo.Config.All(key))
	}
	if s.attributesUnknown() {
		fmt.Fprintln(h, worktree.RandomHex()) // equal to no other digest
	}
	for _, file := range s.attributesOutside() {
		if data, err := os.ReadFile(file); err == nil {
			fmt.Fprintf(h, "%s %x\n", file, sha256.Sum256(data))
		}
	}
	files := slices.Clone(private.attrs)
	for p := range c.Touched {
		if holdsAttributes(p) {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	for _, p := range slices.Compact(files) {
		data, info, err := s.files.ReadWhole(p)
		fmt.Fprintf(h, "%s %v %v %x\n", p, info != nil, err, sha256.Sum256(data))
	}
	h.Sum(sum[:0])
	return sum
}
