package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zlib"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/git/internal/odb"
)

// looseDir writes loose objects into an object directory, in this process. A file must end up as
// git itself would have written it: compressed at the configured level, with the configured mode,
// and synced if that is configured.
//
// write is crash-safe in the way of git: it writes a temporary file tmp_obj_* beside the object and
// renames it. If the object exists, its file (or its pack) gets a new mtime instead, because `git
// prune` deletes unreachable objects by their age, and no ref reaches our objects before the
// transaction.
type looseDir struct {
	dir, format string
	sync        bool    // fsync every object before the rename
	syncPack    bool    // the same for packs
	syncIndex   bool    // and for their indexes
	shared      sharing // core.sharedRepository

	objects *database // the whole database; set by newObjects

	created sync.Map // the ids of objects that write had to write

	mu       sync.Mutex // protects deflater
	deflater deflater
}

func (o *Objects) newLooseDir() *looseDir {
	d := &looseDir{dir: filepath.Join(o.at.CommonDir, "objects"), format: o.at.Format, deflater: deflater{level: compression(o.at.Config)}, sync: syncs(o.at.Config, "loose-object"), syncPack: syncs(o.at.Config, "pack"), syncIndex: syncs(o.at.Config, "pack-metadata"), shared: sharedMode(o.at.Config)}
	if v := gitconfig.Getenv(o.at.env, objectDirectory); v != "" {
		d.dir = v // inside the quarantine of a push
	}
	return d
}

// compression returns the zlib level that git would use for loose objects.
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

// path returns the file of an object: objects/<2 hex digits>/<rest>.
func (d *looseDir) path(oid name.OID) string {
	return filepath.Join(d.dir, string(oid[:2]), string(oid[2:]))
}

// has reports whether a loose object file exists. It does not open it. An empty file does not
// count, because a crash of the machine may leave one.
func (d *looseDir) has(oid name.OID) bool {
	info, err := os.Lstat(d.path(oid))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// misstated reports whether a loose object exists whose content does not have the size that its
// header claims, or cannot be inflated. cat-file prints such a blob as it is, so its answer ends
// before or after the size that it announces.
func (d *looseDir) misstated(oid name.OID) bool {
	f, err := os.Open(d.path(oid))
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	inflated, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return true
	}
	content := bufio.NewReader(inflated)
	head, _ := content.Peek(odb.LongestHead) //nolint:errcheck // a short object has less
	o, length, err := odb.HeadOf(head)
	if err != nil {
		return true
	}
	want := length + o.Size
	n, err := io.CopyN(io.Discard, content, want+1) // one byte more shows whether it ends there
	return n != want || !errors.Is(err, io.EOF)
}

// write makes sure that the object exists and is fresh. An existing copy is freshened, in its pack
// or as a file, and replaced if it is damaged. Like git, it does not write a loose copy of an
// object that an ordinary pack has: only one of the two copies would be freshened, and a gc might
// go by the time of the other one.
func (d *looseDir) write(oid name.OID, typ string, data []byte) (err error) {
	for range 10 { // a concurrent gc may remove an empty directory or our temporary file: try again
		if err = d.writeOnce(oid, typ, data); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// writeOnce is one attempt of write. It fails with fs.ErrNotExist when a gc removed something under
// it. A large object (over maxHere) that exists is not read again to check it.
func (d *looseDir) writeOnce(oid name.OID, typ string, data []byte) error {
	if there, err := d.hasFresh(oid, len(data)); there || err != nil {
		return err
	}
	path := d.path(oid)
	// If we crash, git's gc removes files with this name.
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
		err = d.syncAndChmod(f, d.sync)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept by git
		return err
	}
	d.created.Store(oid, true)
	return nil
}

// hasFresh reports whether the repository has an object of n bytes, which is then freshened.
// One that is damaged does not count.
func (d *looseDir) hasFresh(oid name.OID, n int) (bool, error) {
	if d.objects.packed(oid, n) {
		return true, nil
	}
	fresh, err := freshen(d.path(oid))
	return fresh && (n > maxHere || d.objects.whole(oid)), err
}

// found reports whether there is a copy of an object, intact or not.
func (d *looseDir) found(oid name.OID) bool {
	_, err := os.Lstat(d.path(oid))
	_, packed := d.objects.packs.Find(oid)
	return err == nil || packed
}

// tempPack makes a file for a pack or its index. What a crash leaves of a name that begins with tmp_ is
// swept by git's gc.
func (d *looseDir) tempPack(prefix string) (*os.File, error) {
	dir := filepath.Join(d.dir, "pack")
	if err := d.makeDir(dir); err != nil {
		return nil, err
	}
	return createTemp(filepath.Join(dir, prefix), 0o444)
}

// deflate writes the header and the content of an object, compressed, to f.
func (d *looseDir) deflate(f *os.File, typ string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deflater.out.Reset()
	err := d.deflater.append(fmt.Appendf(nil, "%s %d\x00", typ, len(data)), data)
	if err == nil {
		_, err = f.Write(d.deflater.out.Bytes())
	}
	return err
}

// syncAndChmod syncs the file if sync is set, and sets its mode, as git would. Object files are read-only
// for everybody.
func (d *looseDir) syncAndChmod(f *os.File, sync bool) error {
	if sync {
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

// makeDir creates a directory for loose objects with the mode that git would give it, from the
// umask and core.sharedRepository. Those who may read it may also enter it, and new files in a
// shared one inherit its group.
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
