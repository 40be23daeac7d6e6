package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
	"git-checkpoint/internal/sys/mapped"
)

// Index is a decoded index file of version 2, 3 or 4. See gitformat-index(5) for the format.
//
// go-git's decoder drops the assume-unchanged bit and keeps all entries in memory. This one keeps
// the bytes of the file, mapped into memory, and decodes one entry at a time.
type Index struct {
	Version int
	Count   int      // number of entries
	Tree    name.OID // root of the cache tree: the tree of what is staged; empty when invalid
	Split   bool     // some of the entries are in a shared index file
	Sparse  bool     // a sparse index: an entry may stand for a whole directory
	Flagged bool     // some entry has a stage other than 0, or a flag
	further bool     // there are extensions that cannot be recomputed from the entries
	data    []byte   // the file without its checksum
	trees   []byte   // content of the TREE extension
	hashLen int      // bytes of a binary id: 20 or 32
}

// IndexEntry is one entry of an index. The stat fields are those of the file when git last compared
// it; see gitformat-index(5).
//
// A large worktree has a million of them in memory, so it has no id (see OIDOf), and the order of the fields
// leaves no gaps.
type IndexEntry struct {
	Path  string
	oidAt int // offset of the id in the file, for OIDOf

	Mode            Mode
	Size            uint32 // modulo 2^32; 0 also when git must compare the content
	MtimeSec        uint32
	MtimeNsec       uint32
	CtimeSec        uint32
	CtimeNsec       uint32
	Inode           uint32
	Stage           uint8
	AssumeUnchanged bool
	SkipWorktree    bool
	IntentToAdd     bool
}

// Unmerged is one unmerged entry of an index. A path in conflict has up to three of them.
type Unmerged struct {
	Stage int // 1: common ancestor, 2: ours, 3: theirs
	Path  string
	Entry Entry
}

// Bits of the flags of an entry, of its extended flags (version 3 and later), and the size of the
// fixed part before the id.
const (
	flagAssume  = 0x8000
	flagMore    = 0x4000 // extended flags follow
	flagStage   = 0x3000 // two bits, shifted by 12
	moreSkip    = 0x4000
	moreIntent  = 0x2000
	entryHeader = 40 // ctime, mtime, dev, ino, mode, uid, gid, size
)

// IndexError says that an index file is damaged.
type IndexError struct {
	Path string
	Err  error
}

func (e *IndexError) Error() string { return fmt.Sprintf("the index %s is damaged: %v", e.Path, e.Err) }

func (e *IndexError) Unwrap() []error { return []error{e.Err, ErrGarbled} }

// ReadIndex reads an index file. A missing file is an empty index. It returns an IndexError for a
// damaged one.
func (c *Checkout) ReadIndex(path string) (*Index, error) {
	data, err := mapped.Path(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{Version: 2}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	ix, err := ParseIndex(data, c.at.HashLen())
	if err != nil {
		return nil, &IndexError{path, err}
	}
	return ix, nil
}

// InfoLine returns a line of input for `git update-index -z --index-info`: it puts an entry at a path
// and a stage. An entry with mode 0 removes the path; its id has to have the right length.
func InfoLine(e Entry, stage int, path string) string {
	return fmt.Sprintf("%o %s %d\t%s\x00", uint32(e.Mode), e.OID, stage, path)
}

// ParseIndex decodes the structure of an index. hashLen is 20 or 32. Nothing in the file is
// trusted: all lengths are checked. The checksum at the end is not verified, because git may leave
// it out (index.skipHash).
func ParseIndex(data []byte, hashLen int) (*Index, error) {
	if len(data) < 12+hashLen || string(data[:4]) != "DIRC" {
		return nil, errors.New("not an index file")
	}
	ix := &Index{
		Version: int(binary.BigEndian.Uint32(data[4:])), Count: int(binary.BigEndian.Uint32(data[8:])),
		data: data[:len(data)-hashLen], hashLen: hashLen,
	}
	if ix.Version < 2 || ix.Version > 4 {
		return nil, fmt.Errorf("index version %d is not known", ix.Version)
	}
	at := 12
	for i := 0; i < ix.Count; i++ {
		h, err := ix.header(at)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if h.flags&(flagAssume|flagStage) != 0 || h.more&(moreSkip|moreIntent) != 0 {
			ix.Flagged = true
		}
		at = h.end
	}
	return ix, ix.extensions(at)
}

// extensions walks over the extensions after the entries. The name of an optional one begins with a
// capital letter; a reader must refuse any other that it does not know.
func (ix *Index) extensions(at int) error {
	for at+8 <= len(ix.data) {
		sig, size := string(ix.data[at:at+4]), int(binary.BigEndian.Uint32(ix.data[at+4:]))
		at += 8
		if size < 0 || size > len(ix.data)-at {
			return fmt.Errorf("extension %q is cut off", sig)
		}
		switch body := ix.data[at : at+size]; sig {
		case "TREE":
			ix.Tree, ix.trees = cacheTreeRoot(body, ix.hashLen), body
		case "link":
			ix.Split = true
		case "sdir":
			ix.Sparse = true
		case "EOIE", "IEOT": // offsets that let git read the entries in parallel; git rebuilds them
		default:
			ix.further = true
			if sig[0] < 'A' || sig[0] > 'Z' {
				return fmt.Errorf("extension %q is not known", sig)
			}
		}
		at += size
	}
	return nil
}

// cacheTreeRoot reads the first entry of the TREE extension: an empty path, the number of entries
// (-1: invalid), the number of subtrees, and the tree's id. It returns "" when the root is invalid,
// because something was staged since the last write-tree.
func cacheTreeRoot(body []byte, hashLen int) name.OID {
	if len(body) == 0 || body[0] != 0 {
		return ""
	}
	line, rest, ok := bytes.Cut(body[1:], []byte{'\n'})
	count, _, _ := bytes.Cut(line, []byte{' '})
	if n, err := strconv.Atoi(string(count)); !ok || err != nil || n < 0 || len(rest) < hashLen {
		return ""
	}
	return name.OID(hex.EncodeToString(rest[:hashLen]))
}

// span holds the offsets of the parts of one entry in the file.
type span struct {
	start, oid         int
	flags, more        uint16 // flags, and extended flags
	strip              int    // version 4 only: how many bytes to drop from the previous path
	path, pathEnd, end int    // the path, without its NUL, and the start of the next entry
}

// header finds the parts of the entry at an offset. The length of the path in the flags is not
// used, because it is capped at 0xfff; the NUL after the path is used.
func (ix *Index) header(at int) (span, error) {
	h := span{start: at, oid: at + entryHeader}
	p := h.oid + ix.hashLen
	if p+2 > len(ix.data) {
		return h, errors.New("cut off")
	}
	h.flags = binary.BigEndian.Uint16(ix.data[p:])
	p += 2
	if h.flags&flagMore != 0 {
		if p+2 > len(ix.data) {
			return h, errors.New("cut off")
		}
		h.more = binary.BigEndian.Uint16(ix.data[p:])
		p += 2
	}
	if ix.Version == 4 {
		n, width, ok := odb.Distance(ix.data[p:])
		if !ok || n > math.MaxInt32 {
			return h, errors.New("cut off in its path")
		}
		h.strip = int(n)
		p += width
	}
	h.path = p
	length := bytes.IndexByte(ix.data[p:], 0)
	if length < 0 {
		return h, errors.New("cut off in its path")
	}
	h.pathEnd = p + length
	h.end = h.pathEnd + 1
	if ix.Version < 4 { // versions 2 and 3 pad with 1 to 8 NULs to a multiple of eight
		h.end = at + (h.pathEnd-at+8)&^7
	}
	if h.end > len(ix.data) {
		return h, errors.New("cut off")
	}
	return h, nil
}

// Entries returns all entries in the order of the file: by path, then by stage.
func (ix *Index) Entries() ([]IndexEntry, error) {
	out := make([]IndexEntry, 0, ix.Count)
	err := ix.each(func(e *IndexEntry, _ span) error {
		out = append(out, *e)
		return nil
	})
	return out, err
}

// each decodes the entries one by one, each into the same IndexEntry. In version 4 a path is
// built from the previous one.
func (ix *Index) each(fn func(*IndexEntry, span) error) error {
	// Entries begin after the signature, the version and the count.
	at := 12
	var path []byte
	var texts stringArena
	var e IndexEntry
	for i := 0; i < ix.Count; i++ {
		h, err := ix.header(at)
		if err != nil {
			return err
		}
		at = h.end
		if ix.Version < 4 {
			path = ix.data[h.path:h.pathEnd]
		} else {
			if h.strip > len(path) {
				return fmt.Errorf("index entry %d: its path drops more than there is", i)
			}
			path = append(path[:len(path)-h.strip], ix.data[h.path:h.pathEnd]...)
		}
		e = ix.entry(h, texts.intern(path))
		if err := fn(&e, h); err != nil {
			return err
		}
	}
	return nil
}

// stringArena makes strings of bytes. Many of them share one piece of memory, because an allocation for each
// path of an index takes as long as reading it.
type stringArena struct{ strings.Builder }

// intern returns b as a string.
func (t *stringArena) intern(b []byte) string {
	const room = 64 << 10
	if t.Cap()-t.Len() < len(b) {
		t.Builder = strings.Builder{}
		t.Grow(max(room, len(b)))
	}
	start := t.Len()
	t.Write(b) //nolint:errcheck // never fails
	return t.String()[start:]
}

func (ix *Index) oidAt(at int) name.OID {
	return name.OID(hex.EncodeToString(ix.data[at : at+ix.hashLen]))
}

// entry decodes the fixed part of an entry, which is ten big-endian words.
func (ix *Index) entry(h span, path string) IndexEntry {
	word := func(n int) uint32 { return binary.BigEndian.Uint32(ix.data[h.start+4*n:]) }
	return IndexEntry{
		Path: path, oidAt: h.oid,
		CtimeSec: word(0), CtimeNsec: word(1), MtimeSec: word(2), MtimeNsec: word(3), Inode: word(5),
		Mode: Mode(word(6)), Size: word(9), Stage: uint8(h.flags & flagStage >> 12),
		AssumeUnchanged: h.flags&flagAssume != 0,
		SkipWorktree:    h.more&moreSkip != 0,
		IntentToAdd:     h.more&moreIntent != 0,
	}
}
