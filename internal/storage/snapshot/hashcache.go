package snapshot

// git's index remembers which content a tracked file had when git last looked at it. It remembers
// nothing about untracked files, and about tracked ones that differ from the index, so a capture
// would have to read all of them each time. hashCache remembers what the previous capture read in
// them.

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// cachedHash is what a capture read in one version of a file.
type cachedHash struct {
	oid      name.OID // of the content, without conversions
	cr       bool     // the content may have CR characters
	database bool     // it is an SQLite database
}

// hashCache holds versions of files by path and stat data, as an index does, and which versions git checks
// out exactly (keepUnchanged). On disk it is the
// checksum of the rest, and for each version its key (16 bytes), 1 for cr plus 2 for database, and the binary id.
// It is only a cache: if the file does not look right, all files are read again.
type hashCache struct {
	path     string
	perm     fs.FileMode
	tick     time.Time                        // start of the clock tick in which the capture began
	hashLen  int                              // bytes of a binary id
	previous func() map[versionKey]cachedHash // read while the worktree is scanned

	mu  sync.Mutex // protects now
	now map[versionKey]cachedHash
}

// openHashCache begins to read what the previous capture saw.
func (s *capturer) openHashCache(began time.Time) *hashCache {
	v := &hashCache{
		path: filepath.Join(s.dir, "seen"), perm: s.repo.Settings.PrivateMode(), tick: began.Truncate(clockTick), hashLen: s.repo.HashLen(),
	}
	v.previous = sync.OnceValue(v.read)
	go v.previous()
	return v
}

// read reads what the previous capture saw.
func (v *hashCache) read() map[versionKey]cachedHash {
	data, err := os.ReadFile(v.path)
	if err != nil || len(data) < 32 || (len(data)-32)%v.size() != 0 || checksum(data[32:]) != [32]byte(data) {
		return nil
	}
	seen := make(map[versionKey]cachedHash, len(data)/v.size())
	for r := range slices.Chunk(data[32:], v.size()) {
		seen[versionKey(r[:16])] = cachedHash{name.OIDOf(r[17:]), r[16]&1 != 0, r[16]&2 != 0}
	}
	return seen
}

// checksum is not that of the versions of this program that knew no databases.
func checksum(records []byte) [32]byte {
	sum := sha256.Sum256(records)
	sum[0] ^= 2
	return sum
}

// size returns the bytes of a version on disk.
func (v *hashCache) size() int { return len(versionKey{}) + 1 + v.hashLen }

// clockTick is the coarsest time stamp of a file system: FAT keeps even seconds.
const clockTick = 2 * time.Second

// key returns the key of a version of a file, and false if the version may still change without a
// sign: it was written in the clock tick in which the capture began, or later.
func (v *hashCache) key(path string, info fs.FileInfo) (versionKey, bool) {
	st, ok := fileStat(info)
	if !ok || !info.ModTime().Before(v.tick) || !worktree.ChangeTime(info).Before(v.tick) {
		return versionKey{}, false
	}
	return keyOf(git.IndexEntry{
		Path: path, Mode: worktree.ModeOf(info), Size: st.Size, Inode: st.Inode,
		MtimeSec: st.MtimeSec, MtimeNsec: st.MtimeNsec, CtimeSec: st.CtimeSec, CtimeNsec: st.CtimeNsec,
	}, ""), true
}

// find returns what the previous capture read in this version of a file, and remembers it for the next one.
func (v *hashCache) find(path string, info fs.FileInfo) (cachedHash, bool) {
	key, settled := v.key(path, info)
	return v.previous()[key], settled && v.recall(key)
}

// recall reports whether the previous capture kept a version, and keeps it for the next one.
func (v *hashCache) recall(key versionKey) bool {
	seen, ok := v.previous()[key]
	if ok {
		v.keep(key, seen)
	}
	return ok
}

// known returns what find has found, or add has added, for a version of a file.
func (v *hashCache) known(path string, info fs.FileInfo) (s cachedHash, is bool) {
	key, settled := v.key(path, info)
	v.mu.Lock()
	defer v.mu.Unlock()
	s, is = v.now[key]
	return s, is && settled
}

// add remembers a version of a file for the next capture.
func (v *hashCache) add(path string, info fs.FileInfo, s cachedHash) {
	if key, settled := v.key(path, info); settled {
		v.keep(key, s)
	}
}

func (v *hashCache) keep(key versionKey, s cachedHash) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now == nil {
		v.now = make(map[versionKey]cachedHash, len(v.previous()))
	}
	v.now[key] = s
}

// save writes the hashCache of this capture. If that fails, the next one reads the files again.
func (v *hashCache) save() {
	if maps.Equal(v.now, v.previous()) {
		return
	}
	records := make([]byte, 0, len(v.now)*v.size())
	for key, s := range v.now {
		flags := byte(0)
		if s.cr {
			flags |= 1
		}
		if s.database {
			flags |= 2
		}
		records = s.oid.Bytes(append(append(records, key[:]...), flags))
	}
	sum, temp := checksum(records), v.path+".tmp-"+worktree.RandomHex()
	if os.WriteFile(temp, slices.Concat(sum[:], records), v.perm) != nil || os.Rename(temp, v.path) != nil {
		os.Remove(temp) //nolint:errcheck // disposable
	}
}
