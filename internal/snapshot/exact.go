package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"sort"

	"git-checkpoint/internal/git"
)

// keepUnchanged looks at the files that the index calls unchanged, where git may
// convert content: a line ending that changed from LF to CRLF gives the same blob,
// so such a file counts as unchanged although git would not give its bytes back.
// Files that were found exact once are remembered by their stat data.
func (s *Shot) keepUnchanged(ctx context.Context, private *privateIndex, c *Capture) error {
	known := s.openVerdicts(private, c)
	var open []candidate
	entries := map[string]git.Entry{}
	sizes := map[string]uint32{}
	keys := map[string]verdictKey{}
	present := map[string]bool{}
	for _, p := range private.state.SparsePresent {
		present[p] = true
	}
	err := private.index.Each(func(e git.IndexEntry) error {
		if e.Stage > 0 || !regular(e.Mode) || e.SkipWorktree && !present[e.Path] || e.IntentToAdd || c.Touched[e.Path] {
			return nil
		}
		if present[e.Path] { // git does not keep stat data of these: it says nothing, and is not remembered
			open = append(open, candidate{path: e.Path, mode: e.Mode, tracked: true})
			entries[e.Path], sizes[e.Path] = git.Entry{Mode: e.Mode, OID: e.OID}, math.MaxUint32
			return nil
		}
		key := keyOf(e)
		if !known.has(key) {
			open = append(open, candidate{path: e.Path, mode: e.Mode, size: int64(e.Size), tracked: true})
			entries[e.Path], sizes[e.Path], keys[e.Path] = git.Entry{Mode: e.Mode, OID: e.OID}, e.Size, key
		}
		return nil
	})
	if err != nil || len(open) == 0 {
		return err
	}
	affected, err := s.affected(ctx, private.path, open)
	if err != nil {
		return err
	}
	affected = append(affected, unaffected(open, affected)...)
	doubtful, err := s.doubtful(ctx, affected, entries, sizes)
	if err != nil {
		return err
	}
	if len(doubtful) > 0 {
		if err := s.keepRawOf(ctx, private.path, doubtful, entries, c); err != nil {
			return err
		}
	}
	for p, key := range keys {
		if _, raw := c.Raw[p]; !raw {
			known.add(key)
		}
	}
	known.save()
	return nil
}

// convertedBefore reports whether conversions were met here once: files that were
// converted under attributes that are gone still count as unchanged.
func (s *Shot) convertedBefore() bool {
	_, err := os.Lstat(filepath.Join(s.dir, "exact"))
	return err == nil
}

// unaffected are the files that no attribute speaks of: exact when of their blob's
// size.
func unaffected(files []candidate, affected []filtered) []filtered {
	converted := make(map[string]bool, len(affected))
	for _, f := range affected {
		converted[f.path] = true
	}
	var out []filtered
	for _, f := range files {
		if !converted[f.path] {
			out = append(out, filtered{candidate: f, inOnly: true})
		}
	}
	return out
}

// doubtful keeps the files whose bytes have to be compared. Where the only
// conversion is of line endings on the way in, a file of its blob's size is exact.
func (s *Shot) doubtful(ctx context.Context, files []filtered, entries map[string]git.Entry, sizes map[string]uint32) ([]filtered, error) {
	var out, plain []filtered
	for _, f := range files {
		if f.inOnly {
			plain = append(plain, f)
		} else {
			out = append(out, f)
		}
	}
	specs := make([]string, len(plain))
	for i, f := range plain {
		specs[i] = string(entries[f.path].OID)
	}
	err := s.repo.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err != nil || uint32(o.Size) != sizes[plain[i].path] {
			out = append(out, plain[i])
		}
		return nil
	})
	return out, err
}

// verdictKey stands for one version of a file as the index has it.
type verdictKey [16]byte

func keyOf(e git.IndexEntry) verdictKey {
	var b bytes.Buffer
	b.WriteString(e.Path + "\x00" + string(e.OID))
	for _, v := range []uint32{uint32(e.Mode), e.Size, e.MtimeSec, e.MtimeNsec, e.CtimeSec, e.CtimeNsec, e.Inode} {
		binary.Write(&b, binary.BigEndian, v) //nolint:errcheck // never fails
	}
	sum := sha256.Sum256(b.Bytes())
	return verdictKey(sum[:16])
}

// verdicts are the versions of files that git gives back exactly, under the
// attributes and the configuration that the digest stands for. The file is a
// cache: when anything about it is odd, every file is compared again.
type verdicts struct {
	path   string
	digest [32]byte
	exact  map[verdictKey]bool
	fresh  bool
}

func (s *Shot) openVerdicts(private *privateIndex, c *Capture) *verdicts {
	v := &verdicts{path: filepath.Join(s.dir, "exact"), digest: s.conversionDigest(private, c), exact: map[verdictKey]bool{}}
	data, err := os.ReadFile(v.path)
	if err != nil || len(data) < 32 || !bytes.Equal(data[:32], v.digest[:]) || len(data)%16 != 0 {
		return v
	}
	for at := 32; at < len(data); at += 16 {
		v.exact[verdictKey(data[at:at+16])] = true
	}
	return v
}

func (v *verdicts) has(k verdictKey) bool { return v.exact[k] }

func (v *verdicts) add(k verdictKey) {
	v.exact[k] = true
	v.fresh = true
}

// save writes the cache; a failure only costs time later.
func (v *verdicts) save() {
	if !v.fresh {
		return
	}
	data := make([]byte, 0, 32+16*len(v.exact))
	data = append(data, v.digest[:]...)
	for k := range v.exact {
		data = append(data, k[:]...)
	}
	temp := v.path + ".tmp-" + randomHex()
	if os.WriteFile(temp, data, 0o666) != nil || os.Rename(temp, v.path) != nil {
		os.Remove(temp) //nolint:errcheck // disposable
	}
}

// conversionDigest stands for everything that decides how git converts: settings
// and all files of attributes.
func (s *Shot) conversionDigest(private *privateIndex, c *Capture) (sum [32]byte) {
	h := sha256.New()
	for _, key := range []string{"core.autocrlf", "core.eol", "core.attributesFile", "core.checkRoundtripEncoding"} {
		fmt.Fprintf(h, "%s=%q\n", key, s.repo.Config.All(key))
	}
	keys := s.repo.Config.Keys("filter.")
	sort.Strings(keys)
	for _, key := range keys {
		fmt.Fprintf(h, "%s=%q\n", key, s.repo.Config.All(key))
	}
	for _, file := range s.attributesOutside() {
		if data, err := os.ReadFile(file); err == nil {
			fmt.Fprintf(h, "%s %x\n", file, sha256.Sum256(data))
		}
	}
	var files []string
	for _, e := range private.entries {
		if path.Base(e.Path) == ".gitattributes" {
			files = append(files, e.Path)
		}
	}
	for p := range c.Touched {
		if path.Base(p) == ".gitattributes" {
			files = append(files, p)
		}
	}
	sort.Strings(files)
	for _, p := range files {
		data, info, err := s.tree.readWhole(p)
		fmt.Fprintf(h, "%s %v %v %x\n", p, info != nil, err, sha256.Sum256(data))
	}
	h.Sum(sum[:0])
	return sum
}
