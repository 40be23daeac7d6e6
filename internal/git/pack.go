package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"git-checkpoint/internal/name"
)

// maxPack is how much is gathered before it becomes a pack of its own.
const maxPack = 48 << 20

// InPacks lets every object that do writes go into packs. A thousand loose objects
// take a second and a pack of them a tenth of that. They are readable by this Repo at
// once; before refs move, and at the end, they are handed to git.
func (r *Repo) InPacks(ctx context.Context, do func() error) error {
	r.writing.Do(func() { r.writer = r.newWriter() })
	if r.pack != nil {
		return errors.New("write packs: one is being written")
	}
	loose := r.writer
	r.pack = newPackWriter(r)
	r.writer = r.pack
	defer func() { r.writer, r.pack = loose, nil }()
	if err := do(); err != nil {
		return err
	}
	return r.pack.flush(ctx)
}

// packWriter gathers objects as the entries of a pack. They are compressed beside the work
// that makes them: that is a third of it.
type packWriter struct {
	repo *Repo

	mu    sync.Mutex
	known map[name.OID]kept // all that was written, in earlier packs too
	count uint32
	size  int // of what was gathered, before it is compressed

	lanes chan *packLane // those that have nothing to do
	busy  sync.WaitGroup
}

// packLanes is how many objects are compressed at a time.
const packLanes = 2

// packLane holds entries, in whatever order they came to it.
type packLane struct {
	entries bytes.Buffer
	deflate *zlib.Writer
	err     error
}

func newPackWriter(r *Repo) *packWriter {
	w := &packWriter{repo: r, known: map[name.OID]kept{}, lanes: make(chan *packLane, packLanes)}
	for range packLanes {
		w.lanes <- &packLane{}
	}
	return w
}

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

// kept is an object that may be read again before git has it; of a blob only that it
// was written is kept.
type kept struct {
	typ  string
	data []byte
}

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

// WriteObject adds an object to the pack, each once.
func (w *packWriter) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	code, err := packType(typ)
	if err != nil {
		return "", err
	}
	oid := HashObject(w.repo.Format, typ, data)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, written := w.known[oid]; written {
		return oid, nil
	}
	data = bytes.Clone(data)
	k := kept{typ: typ}
	if typ != "blob" {
		k.data = data
	}
	w.known[oid] = k
	w.count++
	w.size += len(data)
	w.busy.Add(1)
	lane := <-w.lanes
	go func() {
		lane.add(code, data)
		w.lanes <- lane
		w.busy.Done()
	}()
	if w.size > maxPack {
		return oid, w.flushLocked(ctx)
	}
	return oid, nil
}

// packHeader is the type and the size of an entry: four bits of it, then seven a byte.
func packHeader(code byte, size int) []byte {
	first := code<<4 | byte(size&0x0f)
	out := []byte{first}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

func (w *packWriter) flush(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flushLocked(ctx)
}

// flushLocked hands the pack to git, which checks and indexes it.
func (w *packWriter) flushLocked(ctx context.Context) error {
	if w.count == 0 {
		return nil
	}
	w.busy.Wait()
	stream := bytes.NewBuffer(make([]byte, 0, w.size/2))
	stream.WriteString("PACK")
	stream.Write(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 2}, w.count))
	var err error
	for range packLanes {
		lane := <-w.lanes
		err = errors.Join(err, lane.err)
		stream.Write(lane.entries.Bytes())
		w.lanes <- &packLane{deflate: lane.deflate}
	}
	w.count, w.size = 0, 0
	if err != nil {
		return fmt.Errorf("compress objects: %w", err)
	}
	sum := newHash(w.repo.Format)
	sum.Write(stream.Bytes())
	stream.Write(sum.Sum(nil))
	if _, err := w.repo.Run(ctx, Cmd{Args: []string{"index-pack", "--stdin"}, Stdin: stream}); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return nil
}

// unpacked is an object of a pack that is being written.
func (r *Repo) unpacked(oid, typ string) (Object, bool) {
	if r.pack == nil {
		return Object{}, false
	}
	r.pack.mu.Lock()
	defer r.pack.mu.Unlock()
	k, ok := r.pack.known[name.OID(oid)]
	if !ok || k.typ != typ || k.data == nil && typ == "blob" {
		return Object{}, false
	}
	return Object{OID: name.OID(oid), Type: typ, Size: int64(len(k.data)), Data: k.data}, true
}
