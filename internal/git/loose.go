package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// looseDir is an object directory whose loose objects are read and written in
// process. What it cannot answer for certain is git's to answer: packs, alternates,
// what a promisor still has, damage.
type looseDir struct {
	dir, format string
	level       int // of compression
	sync        bool
	shared      sharing

	inflaters sync.Pool // of io.ReadCloser that are zlib.Resetter
	mu        sync.Mutex
	deflater  *zlib.Writer // one: each new one costs as much as forty small objects
	buffer    *bufio.Writer
}

func (r *Repo) newLooseDir() *looseDir {
	d := &looseDir{dir: filepath.Join(r.CommonDir, "objects"), format: r.Format, level: compression(r.Config), sync: syncsLoose(r.Config), shared: sharedMode(r.Config)}
	if v := lookup(r.env, "GIT_OBJECT_DIRECTORY"); v != "" {
		d.dir = v // inside a quarantine
	}
	return d
}

// compression is the level that git itself would use for loose objects.
func compression(c *Config) int {
	for _, key := range []string{"core.looseCompression", "core.compression"} {
		v, ok := c.Get(key)
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(v); err == nil && n >= zlib.DefaultCompression && n <= zlib.BestCompression {
			return n
		}
	}
	return zlib.BestSpeed
}

func (d *looseDir) path(oid name.OID) string {
	return filepath.Join(d.dir, string(oid[:2]), string(oid[2:]))
}

// maxLoose is the size up to which a loose object is read in process.
const maxLoose = 1 << 20

// errElsewhere says that an object is no small loose one that is whole.
var errElsewhere = errors.New("not a small loose object")

// read gives a loose object whose content has the id that it stands under.
func (d *looseDir) read(oid name.OID) (Object, error) {
	o, err := d.open(oid, maxLoose)
	if err == nil && HashObject(d.format, o.Type, o.Data) != oid {
		err = errElsewhere
	}
	return o, err
}

// info gives type and size of a loose object.
func (d *looseDir) info(oid name.OID) (Object, error) {
	o, err := d.open(oid, -1)
	o.Data = nil
	return o, err
}

// has reports whether an object stands there, by the look of its file: a crash leaves
// an empty one.
func (d *looseDir) has(oid name.OID) bool {
	info, err := os.Lstat(d.path(oid))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// open inflates the header, and at most limit bytes of content; none when limit is
// negative.
func (d *looseDir) open(oid name.OID, limit int64) (Object, error) {
	o := Object{OID: oid}
	f, err := os.Open(d.path(oid))
	if err != nil {
		return o, errElsewhere
	}
	defer f.Close() //nolint:errcheck // read only
	z, ok := d.inflaters.Get().(io.ReadCloser)
	if ok {
		err = z.(zlib.Resetter).Reset(f, nil) //nolint:errcheck,forcetypeassert // the package promises it
	} else {
		z, err = zlib.NewReader(f)
	}
	if err != nil {
		return o, errElsewhere
	}
	defer d.inflaters.Put(z)
	var head [512]byte // the header is at most 28 bytes long; small objects are read at once
	n, err := io.ReadAtLeast(z, head[:], 28)
	end := bytes.IndexByte(head[:n], 0)
	if end < 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return o, errElsewhere
	}
	typ, size, _ := strings.Cut(string(head[:end]), " ")
	if o.Size, err = strconv.ParseInt(size, 10, 64); err != nil || o.Size < 0 || !isType(typ) {
		return o, errElsewhere
	}
	o.Type = typ
	if limit < 0 {
		return o, nil
	}
	if o.Size > limit {
		return o, errElsewhere
	}
	begun := head[end+1 : n]
	if int64(len(begun)) > o.Size {
		return o, errElsewhere
	}
	o.Data = make([]byte, o.Size)
	if _, err := io.ReadFull(z, o.Data[copy(o.Data, begun):]); err != nil {
		return o, errElsewhere
	}
	if n, err := z.Read(head[:1]); n != 0 || !errors.Is(err, io.EOF) { // more than it says, or a wrong checksum
		return o, errElsewhere
	}
	return o, nil
}

func isType(typ string) bool {
	return typ == "blob" || typ == "tree" || typ == "commit" || typ == "tag"
}

// write gives the object its file. One that is there already is freshened; written
// again where it is damaged.
func (d *looseDir) write(oid name.OID, typ string, data []byte) (err error) {
	for range 10 { // a gc beside us removes directories that are empty, and temporaries
		if err = d.writeOnce(oid, typ, data); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (d *looseDir) writeOnce(oid name.OID, typ string, data []byte) error {
	path := d.path(oid)
	fresh, err := freshen(path)
	if err != nil {
		return err
	}
	if fresh && len(data) <= maxLoose {
		_, err := d.read(oid)
		fresh = err == nil
	}
	if fresh {
		return nil
	}
	// git's gc sweeps what a crash leaves of this name.
	temp := filepath.Join(filepath.Dir(path), "tmp_obj_")
	f, err := createTemp(temp, 0o444)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.makeDir(filepath.Dir(path)); err == nil {
			f, err = createTemp(temp, 0o444)
		}
	}
	if err != nil {
		return err
	}
	err = d.deflate(f, typ, data)
	if err == nil {
		err = d.settle(f)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept by git
	}
	return err
}

func (d *looseDir) deflate(f *os.File, typ string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deflater == nil {
		d.buffer = bufio.NewWriterSize(nil, 16<<10)
		z, err := zlib.NewWriterLevel(d.buffer, d.level)
		if err != nil {
			return err
		}
		d.deflater = z
	}
	d.buffer.Reset(f)
	d.deflater.Reset(d.buffer)
	_, err := fmt.Fprintf(d.deflater, "%s %d\x00", typ, len(data))
	if err == nil {
		_, err = d.deflater.Write(data)
	}
	if err == nil {
		err = d.deflater.Close()
	}
	if err == nil {
		err = d.buffer.Flush()
	}
	return err
}

// settle gives the file the durability and the mode that git's own would have.
func (d *looseDir) settle(f *os.File) error {
	if d.sync {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("sync %q: %w", f.Name(), err)
		}
	}
	if d.shared.bits == 0 {
		return nil
	}
	mode := d.shared.bits & 0o444
	if !d.shared.exact {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		mode |= info.Mode().Perm() & 0o444
	}
	return f.Chmod(mode)
}

// makeDir makes the directory as git does, by the umask and core.sharedRepository.
func (d *looseDir) makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || d.shared.bits == 0 {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	mode := d.shared.bits
	if !d.shared.exact {
		mode |= info.Mode().Perm()
	}
	mode |= mode & 0o444 >> 2
	if mode&0o060 != 0 {
		mode |= fs.ModeSetgid
	}
	return os.Chmod(dir, mode)
}
