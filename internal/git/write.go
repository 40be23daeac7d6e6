package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"git-checkpoint/internal/name"
)

// ObjectWriter writes an object of type "blob", "tree" or "commit" and gives its
// id. An object that exists already is freshened, so that a `git prune` that was
// about to delete it leaves it alone.
type ObjectWriter interface {
	WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error)
}

// WriteObject writes through the writer that fits the repository: in process for
// SHA-1, through `git hash-object` for SHA-256, which go-git v5 cannot write.
func (r *Repo) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	r.writing.Do(func() { r.writer = r.newWriter() })
	oid, err := r.writer.WriteObject(ctx, typ, data)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", typ, err)
	}
	return oid, nil
}

func (r *Repo) newWriter() ObjectWriter {
	if r.Format != "sha1" {
		return &processWriter{r}
	}
	dir := filepath.Join(r.CommonDir, "objects")
	if v := lookup(r.env, "GIT_OBJECT_DIRECTORY"); v != "" {
		dir = v // inside a quarantine
	}
	root, leaf := filepath.Split(filepath.Clean(dir))
	if leaf != "objects" { // go-git knows no other name
		return &processWriter{r}
	}
	w := &looseWriter{dir: dir, sync: syncsLoose(r.Config), shared: sharedMode(r.Config), readable: readable(dir)}
	w.stores.New = func() any {
		return filesystem.NewObjectStorage(dotgit.New(osfs.New(root)), cache.NewObjectLRU(0))
	}
	return w
}

// looseWriter writes loose objects in process.
type looseWriter struct {
	dir      string
	sync     bool
	shared   sharing
	readable fs.FileMode // what the umask leaves of 0444
	stores   sync.Pool   // of *filesystem.ObjectStorage, each used by one goroutine at a time
}

func (w *looseWriter) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	kind, err := plumbing.ParseObjectType(typ)
	if err != nil {
		return "", err
	}
	hash := plumbing.ComputeHash(kind, data)
	oid := name.OID(hash.String())
	path := filepath.Join(w.dir, string(oid[:2]), string(oid[2:]))
	if fresh, err := freshen(path); fresh || err != nil {
		return oid, err
	}
	if err := w.makeDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	obj := &plumbing.MemoryObject{}
	obj.SetType(kind)
	if _, err := obj.Write(data); err != nil {
		return "", err
	}
	store := w.stores.Get().(*filesystem.ObjectStorage) //nolint:errcheck,forcetypeassert // nothing else is put in
	_, err = store.SetEncodedObject(obj)
	w.stores.Put(store)
	if err != nil {
		return "", err
	}
	return oid, w.finish(path)
}

// freshen gives an object that is there a new time. An empty file is what a crash
// leaves of an object that was never synced: it goes, so that it can be written.
func freshen(path string) (bool, error) {
	now := time.Now()
	if err := os.Chtimes(path, now, now); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if info, err := os.Lstat(path); err != nil || info.Size() > 0 || !info.Mode().IsRegular() {
		return err == nil, err
	}
	return false, os.Remove(path)
}

// makeDir makes the directory as git does; go-git's own ignores what the umask
// would allow and core.sharedRepository.
func (w *looseWriter) makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || w.shared.bits == 0 {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	mode := w.shared.bits
	if !w.shared.exact {
		mode |= info.Mode().Perm()
	}
	mode |= mode & 0o444 >> 2
	if mode&0o060 != 0 {
		mode |= fs.ModeSetgid
	}
	return os.Chmod(dir, mode)
}

// finish gives the file the durability and the mode that git's own would have;
// go-git makes it readable for all.
func (w *looseWriter) finish(path string) error {
	if w.sync {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		err = f.Sync()
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("sync %q: %w", path, err)
		}
	}
	mode := w.readable | w.shared.bits&0o444
	if w.shared.exact {
		mode = w.shared.bits & 0o444
	}
	if mode == 0o444 {
		return nil
	}
	return os.Chmod(path, mode)
}

// readable probes the umask with a file named like git's own temporaries, which
// its gc sweeps: asking for the umask would change it for a moment.
func readable(dir string) fs.FileMode {
	path := filepath.Join(dir, "tmp_obj_"+rand.Text())
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return 0o444
	}
	defer os.Remove(path) //nolint:errcheck // see above
	defer f.Close()       //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return 0o444
	}
	return info.Mode().Perm()
}

// syncsLoose reads core.fsync: git leaves loose objects unsynced by default.
func syncsLoose(c *Config) bool {
	if old, err := c.Bool("core.fsyncObjectFiles", false); err == nil && old {
		return true
	}
	v, _ := c.Get("core.fsync")
	on := false
	for _, part := range strings.Split(v, ",") {
		switch strings.TrimSpace(part) {
		case "loose-object", "objects", "committed", "added", "all":
			on = true
		case "-loose-object", "-objects", "-committed", "-added", "-all", "none":
			on = false
		}
	}
	return on
}

// sharing is core.sharedRepository: bits that are added to what the umask leaves,
// or that are the whole mode.
type sharing struct {
	bits  fs.FileMode // 0: umask alone
	exact bool
}

func sharedMode(c *Config) sharing {
	v, _ := c.Get("core.sharedRepository")
	switch strings.ToLower(v) {
	case "", "umask", "false", "0", "no", "off":
		return sharing{}
	case "group", "true", "1", "yes", "on":
		return sharing{bits: 0o660}
	case "all", "world", "everybody", "2":
		return sharing{bits: 0o664}
	}
	mode, err := strconv.ParseUint(v, 8, 12)
	if err != nil || mode&0o600 != 0o600 { // git refuses it
		return sharing{}
	}
	return sharing{bits: fs.FileMode(mode) & 0o666, exact: true}
}

// processWriter lets git write, one process per object.
type processWriter struct{ repo *Repo }

func (w *processWriter) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	res, err := w.repo.Run(ctx, Cmd{Args: []string{"hash-object", "-w", "-t", typ, "--stdin"}, Stdin: bytes.NewReader(data)})
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}
