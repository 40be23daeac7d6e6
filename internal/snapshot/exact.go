package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"git-checkpoint/internal/git"
)

// keepUnchanged looks at the files that the index calls unchanged, where git may
// convert content: a line ending that changed from LF to CRLF gives the same blob,
// so such a file counts as unchanged although git would not give its bytes back.
// Files that were found exact once are remembered by their stat data.
func (s *Shot) keepUnchanged(ctx context.Context, private *privateIndex, c *Capture) error {
	known := s.openVerdicts(private)
	var open []candidate
	entries := map[string]git.Entry{}
	sizes := map[string]uint32{}
	keys := map[string]verdictKey{}
	err := private.index.Each(func(e git.IndexEntry) error {
		if e.Stage > 0 || !regular(e.Mode) || e.SkipWorktree || e.IntentToAdd || c.Touched[e.Path] {
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
		if err != nil || uint32(o.Size) != sizes[plain[i].path] { //nolint:gosec // the index keeps sizes modulo 2^32
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

func (s *Shot) openVerdicts(private *privateIndex) *verdicts {
	v := &verdicts{path: filepath.Join(s.dir, "exact"), digest: s.conversionDigest(private), exact: map[verdictKey]bool{}}
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
func (s *Shot) conversionDigest(private *privateIndex) (sum [32]byte) {
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
	//nolint:errcheck // Each has run over this index before
	private.index.Each(func(e git.IndexEntry) error {
		if strings.HasSuffix(e.Path, ".gitattributes") {
			data, info, err := s.tree.readWhole(e.Path)
			fmt.Fprintf(h, "%s %s %v %v %x\n", e.Path, e.OID, info != nil, err, sha256.Sum256(data))
		}
		return nil
	})
	h.Sum(sum[:0])
	return sum
}
