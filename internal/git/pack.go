package git

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
)

// unpackLimit is the number of new objects below which they become loose, as with git's
// fetch.unpackLimit: many small packs make every look-up slow.
const unpackLimit = 100

// InPacks calls do, and collects the objects that do writes into one pack. A thousand loose
// objects take a second, and a pack of them a tenth of that. git gets the pack when do returns, or
// before a ref is updated; a pack of few objects is unpacked. Until then this Repo can read the
// trees and commits in the pack, but not its blobs.
func (o *Objects) InPacks(ctx context.Context, do func() error) error {
	o.writing.Do(func() { o.writer = o.newWriter() })
	if o.pack != nil {
		return errors.New("write packs: another pack is being written")
	}
	if _, own := o.writer.(*looseDir); !own {
		return do() // git writes each object, because each needs an id of another format too
	}
	if o.Packs() > odb.MaxPacks {
		return do() // objects in packs are not found any more, and would be packed again each time
	}
	before := o.writer
	o.pack = newPackWriter(o)
	o.writer = o.pack
	defer func() {
		o.pack.busy.Wait()
		o.pack.discard()
		o.writer, o.pack = before, nil
	}()
	if err := do(); err != nil {
		return err
	}
	return o.pack.flush(ctx)
}

// packWriter collects objects in the file of a pack, which gets its index and its name when it is
// complete. They are compressed in the background, which saves a third of the time.
type packWriter struct {
	to *Objects

	mu      sync.Mutex
	known   map[name.OID]*kept // every object written, those of earlier packs too; nil for a blob
	file    *os.File           // nil before the first entry
	out     *bufio.Writer      // to file
	size    int64              // of what was written to out
	entries []packEntry
	err     error // of an entry; checked when the pack is complete

	lanes chan *deflater // the idle ones; the order of entries in a pack does not matter
	busy  sync.WaitGroup
}

// packEntry is what the index of a pack says of an entry.
type packEntry struct {
	oid name.OID
	crc uint32 // of its bytes in the pack
	at  int64  // where they begin
}

func newPackWriter(o *Objects) *packWriter {
	const packLanes = 2 // how many objects are compressed at a time
	w := &packWriter{to: o, known: map[name.OID]*kept{}, lanes: make(chan *deflater, packLanes)}
	for range packLanes {
		w.lanes <- &deflater{level: zlib.BestSpeed}
	}
	return w
}

// kept is a tree or a commit, which may be read again before git has it.
type kept struct {
	typ  string
	data []byte
}

// packTypes are the types of objects by the number that a pack uses. Tags are never written here.
var packTypes = []string{1: "commit", 2: "tree", 3: "blob"}

// WriteObject adds an object to the pack. If the repository already has it, that copy is freshened
// instead, as for a loose object. data must not change until the lane has compressed it.
func (w *packWriter) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	code := slices.Index(packTypes, typ)
	if code < 1 {
		return "", fmt.Errorf("an object of type %q", typ)
	}
	oid, err := identify(w.to.at.Format, typ, data)
	if err != nil {
		return "", err
	}
	var k *kept
	if typ != "blob" {
		k = &kept{typ, data}
	}
	if !w.claim(oid, k) {
		return oid, nil
	}
	if loose := w.to.database().loose; loose.found(oid) {
		// If the copy is damaged or cannot be freshened, a loose object replaces it, or git reads the
		// loose object instead.
		w.forget(oid)
		return oid, loose.write(oid, typ, data)
	}
	w.busy.Add(1)
	lane := <-w.lanes
	go func() {
		defer w.busy.Done()
		lane.out.Reset()
		lane.out.Write(packHeader(byte(code), len(data)))
		err := lane.append(data)
		w.add(oid, lane.out.Bytes(), err)
		w.lanes <- lane
	}()
	return oid, nil
}

// claim reports whether an object is new to the writer, and remembers it.
func (w *packWriter) claim(oid name.OID, k *kept) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, written := w.known[oid]; written {
		return false
	}
	w.known[oid] = k
	return true
}

// forget removes an object from those that the writer remembers. It is not in the pack, so the next
// write of it has to check again whether the repository still has it.
func (w *packWriter) forget(oid name.OID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, oid)
}

// add appends an entry to the file of the pack. A pack begins with the number of its entries, which
// flush fills in.
func (w *packWriter) add(oid name.OID, entry []byte, err error) {
	const packStart = 12 // the length of what stands before the first entry: a magic number, the version, and the number of entries
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil && err == nil && w.err == nil {
		if w.file, err = w.to.database().loose.tempPack("tmp_pack_"); err == nil {
			w.out = bufio.NewWriterSize(w.file, 64<<10)
			_, err = w.out.Write(make([]byte, packStart))
			w.size = packStart
		}
	}
	if err = errors.Join(w.err, err); err == nil {
		w.entries = append(w.entries, packEntry{oid, crc32.ChecksumIEEE(entry), w.size})
		w.size += int64(len(entry))
		_, err = w.out.Write(entry)
	}
	w.err = err
}

// packHeader encodes type and size of an entry. The first byte has three bits of type and four of
// size, each further byte seven bits of size, the lowest first. The top bit says that another byte
// follows.
func packHeader(code byte, size int) []byte {
	first := code<<4 | byte(size&0x0f)
	out := []byte{first}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

// flush completes the pack and gives it an index, or has git unpack it if it is small.
func (w *packWriter) flush(ctx context.Context) error {
	w.busy.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return fmt.Errorf("write pack: %w", w.err)
	}
	if len(w.entries) == 0 {
		return nil
	}
	defer w.discard()
	sum, err := w.complete()
	if err == nil && len(w.entries) < unpackLimit {
		_, err = w.to.at.Run(ctx, Cmd{Args: []string{"unpack-objects", "-q"}, Stdin: w.file})
	} else if err == nil {
		err = w.install(sum)
	}
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return nil
}

// complete writes the number of entries, and at the end the hash of everything before it. It leaves
// the file at its beginning.
func (w *packWriter) complete() (sum []byte, err error) {
	if err := w.out.Flush(); err != nil {
		return nil, err
	}
	start := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(w.entries)))
	if _, err := w.file.WriteAt(start, 0); err != nil {
		return nil, err
	}
	h := odb.NewHash(w.to.at.Format == "sha256")
	if _, err := io.Copy(h, io.NewSectionReader(w.file, 0, w.size)); err != nil {
		return nil, err
	}
	sum = h.Sum(nil)
	if _, err := w.file.WriteAt(sum, w.size); err != nil {
		return nil, err
	}
	_, err = w.file.Seek(0, io.SeekStart)
	return sum, err
}

// install gives the pack its name, and then the index: git uses a pack as soon as it has one.
func (w *packWriter) install(sum []byte) error {
	dir := w.to.database().loose
	index, err := dir.tempPack("tmp_idx_")
	if err != nil {
		return err
	}
	defer os.Remove(index.Name()) //nolint:errcheck // gone if it got its name
	_, err = index.Write(packIndex(odb.NewHash(w.to.at.Format == "sha256"), w.entries, sum))
	if err == nil {
		err = dir.syncAndChmod(index, dir.syncIndex)
	}
	err = errors.Join(err, index.Close(), dir.syncAndChmod(w.file, dir.syncPack), w.file.Close())
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(index.Name()), "pack-"+hex.EncodeToString(sum))
	if err := os.Rename(w.file.Name(), path+".pack"); err != nil {
		return err
	}
	if err := os.Rename(index.Name(), path+".idx"); err != nil {
		return err
	}
	w.to.database().packs.Refresh()
	return nil
}

// packIndex encodes the index of a pack with the hash sum, in version 2: a magic number; for each first
// byte of an id, how many ids begin with it or a lower one; the ids in order, their CRCs, their offsets;
// 64-bit offsets for those that need them; the hashes of the pack and of the index. It sorts the entries.
func packIndex(h hash.Hash, entries []packEntry, sum []byte) []byte {
	slices.SortFunc(entries, func(a, b packEntry) int { return cmp.Compare(a.oid, b.oid) })
	var ids, crcs, offsets, wide []byte
	var begin [256]uint32
	for _, e := range entries {
		begin[e.oid.Bytes(nil)[0]]++
		ids = e.oid.Bytes(ids)
		crcs = binary.BigEndian.AppendUint32(crcs, e.crc)
		if e.at < 1<<31 {
			offsets = binary.BigEndian.AppendUint32(offsets, uint32(e.at))
		} else {
			offsets = binary.BigEndian.AppendUint32(offsets, 1<<31|uint32(len(wide)/8))
			wide = binary.BigEndian.AppendUint64(wide, uint64(e.at))
		}
	}
	out := []byte("\xfftOc\x00\x00\x00\x02")
	count := uint32(0)
	for _, n := range begin {
		count += n
		out = binary.BigEndian.AppendUint32(out, count)
	}
	out = slices.Concat(out, ids, crcs, offsets, wide, sum)
	h.Write(out)
	return h.Sum(out)
}

// discard ends the pack and deletes what is left of its file. The next entry begins another one.
func (w *packWriter) discard() {
	if w.file != nil {
		w.file.Close()           //nolint:errcheck // closed already, or of no use
		os.Remove(w.file.Name()) //nolint:errcheck // gone if it got its name
	}
	w.file, w.entries = nil, nil
}

// unpacked returns an object that InPacks has written and that git may not have yet. It does not
// return blobs.
func (o *Objects) unpacked(oid, typ string) (Object, bool) {
	if o.pack == nil {
		return Object{}, false
	}
	o.pack.mu.Lock()
	defer o.pack.mu.Unlock()
	k := o.pack.known[name.OID(oid)]
	if k == nil || k.typ != typ {
		return Object{}, false
	}
	return Object{OID: name.OID(oid), Type: typ, Size: int64(len(k.data)), Data: k.data}, true
}
