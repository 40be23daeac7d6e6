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
	"git-checkpoint/internal/odb"
)

// ObjectWriter writes an object of type "blob", "tree" or "commit" and returns its id. If the
// object exists, it gets a new mtime, so that a `git prune` that was about to delete it leaves it
// alone.
type ObjectWriter interface {
	WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error)
}

// WriteObject writes an object and returns its id. It writes a loose object in this process, except
// inside InPacks, and except in a repository with extensions.compatObjectFormat: there each object
// needs a second id, which only git can record.
//
// The object is also remembered for reading, so the caller must not change data afterwards.
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

// newWriter returns the writer for single objects that fits the configuration.
func (r *Repo) newWriter() ObjectWriter {
	if _, compat := r.Config.Get("extensions.compatObjectFormat"); compat {
		return &processWriter{r}
	}
	return &looseWriter{r.database().loose}
}

// looseWriter writes loose objects in process.
type looseWriter struct{ dir *looseDir }

// WriteObject implements ObjectWriter.
func (w *looseWriter) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	if !odb.IsType(typ) {
		return "", fmt.Errorf("%q is not a type of object", typ)
	}
	oid := HashObject(w.dir.format, typ, data)
	if w.dir.format == "sha1" {
		if err := checkCollision(oid, typ, data); err != nil {
			return "", err
		}
	}
	return oid, w.dir.write(oid, typ, data)
}

// checkCollision refuses content that was constructed to collide with other content under SHA-1, as
// git does. The hash of go-git detects such attacks and then returns another id than plain SHA-1.
func checkCollision(oid name.OID, typ string, data []byte) error {
	kind, err := plumbing.ParseObjectType(typ)
	if err != nil {
		return err
	}
	if plumbing.ComputeHash(kind, data).String() != string(oid) {
		return fmt.Errorf("the content was crafted to collide with other content under SHA-1 (%s)", oid)
	}
	return nil
}

// freshen sets the mtime of a loose object to now and reports whether it could. An empty file does
// not count: a crash leaves one for an object that was not synced, and it must be replaced.
func freshen(path string) (bool, error) {
	now := time.Now()
	if err := os.Chtimes(path, now, now); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if errors.Is(err, fs.ErrPermission) {
		return false, nil // another user's: as git does, write a copy of our own
	} else if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	return err == nil && (info.Size() > 0 || !info.Mode().IsRegular()), err
}

// freshenPack sets the mtime of a pack to now, so that gc takes its objects for recent ones. It
// returns false for a cruft pack (with a file *.mtimes): there each object has a time of its own,
// so the object must be written again as a loose one, as git does.
func freshenPack(pack string) bool {
	if _, err := os.Lstat(strings.TrimSuffix(pack, ".pack") + ".mtimes"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now := time.Now()
	return os.Chtimes(pack, now, now) == nil
}

// createTemp creates a file with a random name that begins with prefix. The umask applies to mode,
// which is why os.CreateTemp does not fit.
func createTemp(prefix string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(prefix+rand.Text()[:10], os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Syncs reports whether git is configured to fsync loose objects.
func (r *Repo) Syncs() bool { return syncsLoose(r.Config) }

// syncsLoose reads core.fsync and its predecessor core.fsyncObjectFiles. By default git does not
// sync loose objects. Later components in core.fsync override earlier ones.
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

// sharing is the value of core.sharedRepository: bits that are added to what the umask leaves, or,
// if exact, the complete mode of files.
type sharing struct {
	bits  fs.FileMode // 0: the umask alone decides
	exact bool
}

// sharedMode reads core.sharedRepository: a word such as "group", or an octal mode.
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
	if err != nil || mode&0o600 != 0o600 { // git refuses such a value
		return sharing{}
	}
	return sharing{bits: fs.FileMode(mode) & 0o666, exact: true}
}

// processWriter has git write, with one process per object.
type processWriter struct{ repo *Repo }

// WriteObject implements ObjectWriter.
func (w *processWriter) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	res, err := w.repo.Run(ctx, Cmd{Args: []string{"hash-object", "-w", "-t", typ, "--stdin"}, Stdin: bytes.NewReader(data)})
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}
