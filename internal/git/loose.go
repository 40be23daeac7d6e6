package git

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// looseDir is an object directory whose loose objects are written in process.
type looseDir struct {
	dir, format string
	level       int // of compression
	sync        bool
	shared      sharing

	whole  func(name.OID) bool            // whether a loose object can be read, and has its id
	packed func(oid name.OID, n int) bool // whether a pack has it, which is freshened then

	mu       sync.Mutex
	deflater *zlib.Writer // one: each new one costs as much as forty small objects
	buffer   *bufio.Writer
}

func (r *Repo) newLooseDir() *looseDir {
	d := &looseDir{dir: filepath.Join(r.CommonDir, "objects"), format: r.Format, level: compression(r.Config), sync: syncsLoose(r.Config), shared: sharedMode(r.Config)}
	if v := gitconfig.Getenv(r.env, objectDirectory); v != "" {
		d.dir = v // inside a quarantine
	}
	return d
}

// compression is the level that git itself would use for loose objects.
func compression(c *gitconfig.Config) int {
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

// has reports whether an object stands there, by the look of its file: a crash leaves
// an empty one.
func (d *looseDir) has(oid name.OID) bool {
	info, err := os.Lstat(d.path(oid))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// write gives the object its file. One that is there already is freshened, in its pack or
// as a file, and written again where it is damaged. As with git, nothing becomes loose that
// an ordinary pack has: of two copies only one is freshened, and a gc goes by the other.
func (d *looseDir) write(oid name.OID, typ string, data []byte) (err error) {
	for range 10 { // a gc beside us removes directories that are empty, and temporaries
		if err = d.writeOnce(oid, typ, data); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (d *looseDir) writeOnce(oid name.OID, typ string, data []byte) error {
	if there, err := d.there(oid, len(data)); there || err != nil {
		return err
	}
	path := d.path(oid)
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

// there reports whether the repository has an object of n bytes, which is then freshened.
// One that is damaged does not count.
func (d *looseDir) there(oid name.OID, n int) (bool, error) {
	if d.packed(oid, n) {
		return true, nil
	}
	fresh, err := freshen(d.path(oid))
	return fresh && (n > maxHere || d.whole(oid)), err
}

// tempPack makes a file for the entries of a pack. What a crash leaves of this name is swept
// by git's gc.
func (d *looseDir) tempPack() (*os.File, error) {
	dir := filepath.Join(d.dir, "pack")
	if err := d.makeDir(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "tmp_pack_")
	if err != nil {
		return nil, fmt.Errorf("make a file for a pack: %w", err)
	}
	return f, nil
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
