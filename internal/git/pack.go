package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's own hash
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"git-checkpoint/internal/name"
)

// maxPack is how much is gathered before it becomes a pack of its own.
const maxPack = 24 << 20

// InPacks lets every object that do writes go into packs. A thousand loose objects
// take a second and a pack of them a tenth of that. They are readable by this Repo at
// once; before refs move, and at the end, they are handed to git.
func (r *Repo) InPacks(ctx context.Context, do func() error) error {
	r.writing.Do(func() { r.writer = r.newWriter() })
	if r.pack != nil {
		return errors.New("write packs: one is being written")
	}
	loose := r.writer
	r.pack = &packWriter{repo: r, known: map[name.OID]kept{}}
	r.writer = r.pack
	defer func() { r.writer, r.pack = loose, nil }()
	if err := do(); err != nil {
		return err
	}
	return r.pack.flush(ctx)
}

// packWriter gathers objects as the entries of a pack.
type packWriter struct {
	repo *Repo

	mu      sync.Mutex
	known   map[name.OID]kept // all that was written, in earlier packs too
	entries bytes.Buffer
	count   uint32
	deflate *zlib.Writer
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
	k := kept{typ: typ}
	if typ != "blob" {
		k.data = bytes.Clone(data)
	}
	w.known[oid] = k
	w.entries.Write(packHeader(code, len(data)))
	if w.deflate == nil {
		if w.deflate, err = zlib.NewWriterLevel(&w.entries, zlib.BestSpeed); err != nil {
			return "", err
		}
	} else {
		w.deflate.Reset(&w.entries)
	}
	if _, err := w.deflate.Write(data); err != nil {
		return "", err
	}
	if err := w.deflate.Close(); err != nil {
		return "", err
	}
	w.count++
	if w.entries.Len() > maxPack {
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
	sum := sha1.New() //nolint:gosec // git's own hash
	if w.repo.Format == "sha256" {
		sum = sha256.New()
	}
	header := append([]byte("PACK"), 0, 0, 0, 2)
	header = binary.BigEndian.AppendUint32(header, w.count)
	sum.Write(header)
	sum.Write(w.entries.Bytes())
	stream := bytes.NewBuffer(make([]byte, 0, len(header)+w.entries.Len()+sum.Size()))
	stream.Write(header)
	stream.Write(w.entries.Bytes())
	stream.Write(sum.Sum(nil))
	w.entries.Reset()
	w.count = 0
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
