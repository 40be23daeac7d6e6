package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/odb"
)

// maxLane is how many compressed bytes a lane holds before they go into the spool file.
const maxLane = 1 << 20

// unpackLimit is the number of new objects below which they become loose, as with git's
// fetch.unpackLimit: many small packs make every look-up slow.
const unpackLimit = 100

// InPacks calls do, and collects the objects that do writes into one pack. A thousand loose
// objects take a second, and a pack of them a tenth of that. git gets the pack when do returns, or
// before a ref is updated; a pack of few objects is unpacked. Until then this Repo can read the
// trees and commits in the pack, but not its blobs.
func (r *Repo) InPacks(ctx context.Context, do func() error) error {
	r.writing.Do(func() { r.writer = r.newWriter() })
	if r.pack != nil {
		return errors.New("write packs: another pack is being written")
	}
	if _, own := r.writer.(*looseWriter); !own {
		return do() // git writes each object, because each needs an id of another format too
	}
	if r.Packs() > odb.MaxPacks {
		return do() // objects in packs are not found any more, and would be packed again each time
	}
	before := r.writer
	r.pack = newPackWriter(r)
	r.writer = r.pack
	defer func() {
		r.pack.close()
		r.writer, r.pack = before, nil
	}()
	if err := do(); err != nil {
		return err
	}
	return r.pack.flush(ctx)
}

// packWriter collects objects as the entries of a pack. A pack begins with the number of its
// entries, so they wait until that is known: in memory, and in a spool file if there are many. They
// are compressed in the background, which saves a third of the time.
type packWriter struct {
	repo *Repo

	mu    sync.Mutex
	known map[name.OID]*kept // every object written, those of earlier packs too; nil for a blob
	count uint32
	spool *os.File // nil while the lanes hold all entries

	lanes chan *packLane // the idle ones
	busy  sync.WaitGroup
}

// packLanes is how many objects are compressed at a time.
const packLanes = 2

// packLane compresses entries one at a time. Their order in a pack does not matter.
type packLane struct {
	entries bytes.Buffer
	deflate *zlib.Writer
	err     error // checked when the pack is complete
}

func newPackWriter(r *Repo) *packWriter {
	w := &packWriter{repo: r, known: map[name.OID]*kept{}, lanes: make(chan *packLane, packLanes)}
	for range packLanes {
		w.lanes <- &packLane{}
	}
	return w
}

// add compresses one object and appends it.
func (l *packLane) add(code byte, data []byte) {
	l.entries.Write(packHeader(code, len(data)))
	if l.deflate == nil {
		l.deflate, l.err = zlib.NewWriterLevel(&l.entries, zlib.BestSpeed)
	} else {
		l.deflate.Reset(&l.entries)
	}
	if l.err != nil {
		return
	}
	_, err := l.deflate.Write(data)
	l.err = errors.Join(err, l.deflate.Close())
}

// kept is a tree or a commit, which may be read again before git has it.
type kept struct {
	typ  string
	data []byte
}

// packType returns the number that a pack uses for a type of object. Tags are never written here.
func packType(typ string) (byte, error) {
	switch typ {
	case "commit":
		return 1, nil
	case "tree":
		return 2, nil
	case "blob":
		return 3, nil
	}
	return 0, fmt.Errorf("an object of type %q", typ)
}

// WriteObject adds an object to the pack. If the repository already has it, that copy is freshened
// instead, as for a loose object. data must not change until the lane has compressed it.
func (w *packWriter) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	code, err := packType(typ)
	if err != nil {
		return "", err
	}
	oid := HashObject(w.repo.Format, typ, data)
	var k *kept
	if typ != "blob" {
		k = &kept{typ, data}
	}
	if !w.claim(oid, k) {
		return oid, nil
	}
	loose := w.repo.database().loose
	switch there, err := loose.there(oid, len(data)); {
	case there || err != nil:
		w.forget(oid)
		return oid, err
	case loose.found(oid):
		// A copy exists, but is damaged or cannot be freshened. git would use it, or refuse the
		// pack. A loose object replaces it, or git reads the loose object first.
		w.forget(oid)
		return oid, loose.write(oid, typ, data)
	}
	w.busy.Add(1)
	lane := <-w.lanes
	go func() {
		defer w.busy.Done()
		lane.add(code, data)
		w.added(lane)
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

// added counts an entry, and moves the entries of its lane to the spool file if they are large.
func (w *packWriter) added(lane *packLane) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	if lane.entries.Len() < maxLane || lane.err != nil {
		return
	}
	if w.spool == nil {
		w.spool, lane.err = w.repo.database().loose.tempPack()
	}
	if lane.err == nil {
		_, lane.err = lane.entries.WriteTo(w.spool)
	}
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

// flush gives the pack to git, which checks every object, and either keeps the pack with an index or
// unpacks it.
func (w *packWriter) flush(ctx context.Context) error {
	w.busy.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		return nil
	}
	parts := []io.Reader{bytes.NewReader(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), w.count))}
	var err error
	if w.spool != nil {
		_, err = w.spool.Seek(0, io.SeekStart)
		parts = append(parts, w.spool)
	}
	for range packLanes {
		lane := <-w.lanes
		err = errors.Join(err, lane.err)
		parts = append(parts, &lane.entries)
		defer func() { w.lanes <- &packLane{deflate: lane.deflate} }()
	}
	args := []string{"index-pack", "--stdin"}
	if w.count < unpackLimit {
		args = []string{"unpack-objects", "-q"}
	}
	w.count = 0
	if err != nil {
		return fmt.Errorf("compress objects: %w", err)
	}
	// A pack ends with the hash of everything before it.
	sum := newHash(w.repo.Format)
	trailer := readerFunc(func(p []byte) (int, error) { return copy(p, sum.Sum(nil)), io.EOF })
	stream := io.MultiReader(io.TeeReader(io.MultiReader(parts...), sum), trailer)
	if _, err := w.repo.Run(ctx, Cmd{Args: args, Stdin: stream}); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return w.close()
}

// close deletes the spool file. If the writer begins another pack, it makes a new one.
func (w *packWriter) close() (err error) {
	w.busy.Wait()
	if w.spool != nil {
		err = w.spool.Close()
		os.Remove(w.spool.Name()) //nolint:errcheck // git sweeps it, and may have done so already
		w.spool = nil
	}
	return err
}

// readerFunc makes a function an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// unpacked returns an object that InPacks has written and that git may not have yet. It does not
// return blobs.
func (r *Repo) unpacked(oid, typ string) (Object, bool) {
	if r.pack == nil {
		return Object{}, false
	}
	r.pack.mu.Lock()
	defer r.pack.mu.Unlock()
	k := r.pack.known[name.OID(oid)]
	if k == nil || k.typ != typ {
		return Object{}, false
	}
	return Object{OID: name.OID(oid), Type: typ, Size: int64(len(k.data)), Data: k.data}, true
}
