package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// ObjectWriter writes an object of type "blob", "tree" or "commit" and gives its
// id. An object that exists already is freshened, so that a `git prune` that was
// about to delete it leaves it alone.
type ObjectWriter interface {
	WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error)
}

// WriteObject writes in process; where an object has to have an id of another format
// too, through `git hash-object`. What was written can be read again without being
// asked for; data must not be changed afterwards.
func (r *Repo) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	r.writing.Do(func() { r.writer = r.newWriter() })
	oid, err := r.writer.WriteObject(ctx, typ, data)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", typ, err)
	}
	if r.pack == nil { // a pack keeps what is read again, and many blobs that are not
		r.Batch().keep(Object{oid, typ, int64(len(data)), data})
	}
	return oid, nil
}

func (r *Repo) newWriter() ObjectWriter {
	if _, compat := r.Config.Get("extensions.compatObjectFormat"); compat {
		return &processWriter{r}
	}
	return &looseWriter{r.database().loose}
}

// looseWriter writes loose objects in process.
type looseWriter struct{ dir *looseDir }

func (w *looseWriter) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	if !isType(typ) {
		return "", fmt.Errorf("%q is no type of an object", typ)
	}
	oid := HashObject(w.dir.format, typ, data)
	if w.dir.format == "sha1" {
		if err := checkCollision(oid, typ, data); err != nil {
			return "", err
		}
	}
	return oid, w.dir.write(oid, typ, data)
}

func isType(typ string) bool {
	return typ == "blob" || typ == "tree" || typ == "commit" || typ == "tag"
}

// checkCollision refuses what was made to have the id of something else: git does
// too. go-git's hash notices, and gives such content another id.
func checkCollision(oid name.OID, typ string, data []byte) error {
	kind, err := plumbing.ParseObjectType(typ)
	if err != nil {
		return err
	}
	if plumbing.ComputeHash(kind, data).String() != string(oid) {
		return fmt.Errorf("the content was made to collide with another under SHA-1 (%s)", oid)
	}
	return nil
}

// freshen gives a loose object that is there a new time. An empty file is what a crash
// leaves of an object that was never synced: it counts as none, and is replaced.
func freshen(path string) (bool, error) {
	now := time.Now()
	if err := os.Chtimes(path, now, now); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	return err == nil && (info.Size() > 0 || !info.Mode().IsRegular()), err
}

// freshenPack gives the pack of an object a new time. In a cruft pack each object has a time
// of its own, so git writes such an object again as a loose one.
func freshenPack(pack string) bool {
	if _, err := os.Lstat(strings.TrimSuffix(pack, ".pack") + ".mtimes"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now := time.Now()
	return os.Chtimes(pack, now, now) == nil
}

// createTemp makes a file of a mode that the umask may lessen, under a random name.
func createTemp(prefix string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(prefix+rand.Text()[:10], os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Syncs reports whether git is told to wait until loose objects are on the disk.
func (r *Repo) Syncs() bool { return syncsLoose(r.Config) }

// syncsLoose reads core.fsync: git leaves loose objects unsynced by default.
func syncsLoose(c *gitconfig.Config) bool {
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

func sharedMode(c *gitconfig.Config) sharing {
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
